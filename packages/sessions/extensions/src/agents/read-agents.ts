/** Reads the definitions of subagents: built-in ones, the user's and the project's. */
import { efforts, type Mode, type ToolSpec } from "@lathe/protocol";
import { type ExtensionFile, readExtensionFiles } from "../files/extension-files.ts";
import type { ExtensionPlace } from "../files/extension-place.ts";
import { isName, textOf } from "../files/fields.ts";
import { type AgentDefinition, builtinAgents } from "./agent-definition.ts";
import { agentPermissions } from "./agent-permissions.ts";
import { agentTools } from "./agent-tools.ts";

export interface Agents {
  readonly agents: readonly AgentDefinition[];
  /** One sentence for each file that was skipped, with the reason. */
  readonly remarks: readonly string[];
}

/** `tools`: tools that the calling program brings; definitions may name them. */
export interface AgentPlace extends ExtensionPlace {
  readonly tools?: readonly Pick<ToolSpec, "name">[];
}

export async function readAgents(place: AgentPlace): Promise<Agents> {
  const names = (place.tools ?? []).map(({ name }) => name);
  const refuses = (file: ExtensionFile): string | undefined => {
    const agent = definitionOf(file, names);
    return typeof agent === "string" ? agent : undefined;
  };
  const { files, remarks } = await readExtensionFiles(place, { folder: "agents", refuses });
  const read = files.map((file) => definitionOf(file, names)).filter((one) => typeof one !== "string");
  const own = read.map(({ agent }) => agent);
  const builtin = builtinAgents.filter(({ name }) => !own.some((one) => one.name === name));
  return { agents: [...builtin, ...own], remarks: [...remarks, ...read.flatMap((one) => one.remarks)] };
}

/** The most characters of a description. */
const maxAbout = 160;

interface Read {
  readonly agent: AgentDefinition;
  readonly remarks: readonly string[];
}

/** A sentence if the file is not a valid definition. */
function definitionOf(
  { name, path, isProjects, fields, body }: ExtensionFile,
  own: readonly string[],
): Read | string {
  const about = textOf(fields, "description");
  // An untrusted project cannot turn a read-only agent into one that writes.
  if (isProjects && builtinAgents.some((one) => one.name === name))
    return `${name} is built in, and only your own definition may replace it`;
  if (!isName(name)) return `"${name}" is no name for an agent`;
  if (about === undefined) return "it has no description";
  if (body.trim() === "") return "it says nothing to the agent";
  const permissions = agentPermissions(fields);
  if (typeof permissions === "string") return permissions;
  const allotted = agentTools(fields, own);
  if (typeof allotted === "string") return allotted;
  const { remarks, ...tools } = allotted;
  const model = textOf(fields, "model");
  const effort = efforts.find((one) => one === textOf(fields, "effort"));
  const steps = Number(textOf(fields, "maxTurns") ?? textOf(fields, "steps"));
  const kind = { name, about: shortened(about), onlyReads: onlyReads(permissions.mode) };
  const agent = {
    ...kind,
    role: body.trim(),
    ...tools,
    ...(model !== undefined && isModel(model) && { model }),
    ...(effort && { effort }),
    ...(Number.isInteger(steps) && steps > 0 && { steps }),
    ...permissions,
  };
  return { agent, remarks: remarks.map((one) => `${path}: ${one}`) };
}

function shortened(about: string): string {
  const line = about.replace(/\s+/gu, " ");
  return line.length <= maxAbout ? line : `${line.slice(0, maxAbout).replace(/\s+\S*$/u, "")}…`;
}

/** False for other agents' short model names, and for words that mean the parent's model. */
function isModel(model: string): boolean {
  return !["inherit", "sonnet", "opus", "haiku", "default"].includes(model);
}

function onlyReads(mode: Mode | undefined): boolean {
  return mode === "read-only" || mode === "plan";
}
