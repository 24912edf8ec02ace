/** Agent tools: which of its parent's tools the fields of a definition give and take away. */
import { type Field, type Fields, isFields, listOf } from "../files/fields.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { toolsGivenBy, toolsTakenBy } from "./tool-names.ts";

export interface AgentTools extends Pick<AgentDefinition, "tools" | "without"> {
  /** What of the names is not as it reads, one sentence each. */
  readonly remarks: readonly string[];
}

/** A sentence where it cannot be told what it may have. `own`: names of the tools that are there beside the known ones. */
export function agentTools(fields: Fields, own: readonly string[]): AgentTools | string {
  const given = namesOf(fields.tools);
  const taken = namesOf(fields.disallowedTools);
  if (given === undefined || taken === undefined) return "its tools are neither names nor true and false";
  const { tools, remarks } = toolsGiven(given.on, own);
  if (tools?.length === 0 && given.on?.length !== 0)
    return ["none of its tools is there", ...remarks].join("; ");
  const away = [...(taken.on ?? []), ...given.off];
  const wrong = away.find((name) => !/^[\w*.-]+(?:\(.*)?$/su.test(name));
  if (wrong !== undefined) return `"${wrong}" is no name of a tool`;
  const without = away.includes("*") ? { tools: [], remarks: [] } : toolsTaken(away, own);
  return { ...(tools && { tools }), ...without, remarks: [...remarks, ...without.remarks] };
}

interface Switched {
  /** Absent where none is named. */
  readonly on?: readonly string[];
  readonly off: readonly string[];
}

/** Names, or as some write them: `bash: true`, `write: false`. */
function namesOf(field: Field | undefined): Switched | undefined {
  if (field === undefined) return { off: [] };
  if (!isFields(field)) {
    // A list parts `Bash(a, b)`, too.
    const text = typeof field === "string" ? field : field.join(", ");
    return { on: listOf({ text }, "text") ?? [], off: [] };
  }
  const entries = Object.entries(field);
  if (entries.some(([, value]) => value !== "true" && value !== "false")) return undefined;
  const names = (word: string): string[] =>
    entries.flatMap(([name, value]) => (value === word ? [name] : []));
  const on = names("true");
  return { ...(on.length > 0 && { on }), off: names("false") };
}

type Given = Pick<AgentTools, "tools" | "remarks">;

function toolsGiven(names: readonly string[] | undefined, own: readonly string[]): Given {
  if (names === undefined || names.includes("*")) return { remarks: [] };
  const remarks: string[] = [];
  const tools = names.flatMap((name) => {
    // `Bash(git *)` gives a part of a tool, which we cannot: none of it.
    if (name.includes("(")) remarks.push(`it does not get ${name}: no part of a tool can be given`);
    const known = name.includes("(") ? [] : toolsGivenBy(name, own);
    if (known === undefined) remarks.push(`there is no tool ${name}`);
    return known ?? [];
  });
  return { tools: [...new Set(tools)], remarks };
}

function toolsTaken(
  names: readonly string[],
  own: readonly string[],
): Pick<AgentTools, "without" | "remarks"> {
  const remarks: string[] = [];
  const without = names.flatMap((name) => {
    // What is taken away in part goes whole.
    const known = toolsTakenBy(name.replace(/\(.*$/su, ""), own);
    if (known === undefined) remarks.push(`there is no tool ${name} to take away`);
    return known ?? [];
  });
  return { ...(without.length > 0 && { without: [...new Set(without)] }), remarks };
}
