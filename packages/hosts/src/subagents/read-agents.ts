/** Reads the kinds of subagents there are: the built-in ones and those the project and the user wrote down. */
import { type EffectKind, efforts, type Mode, type Rule } from "@lathe/protocol";
import { type CustomFile, type CustomPlace, readCustomFiles } from "../customs/custom-files.ts";
import { type Fields, listOf, textOf } from "../customs/front-matter.ts";
import { type AgentDefinition, builtinAgents } from "./agent-definition.ts";
import { toolNames } from "./tool-names.ts";

export interface Agents {
  readonly agents: readonly AgentDefinition[];
  /** What was left out and why, one sentence each. */
  readonly remarks: readonly string[];
}

export function readAgents(place: CustomPlace): Agents {
  const { files, remarks } = readCustomFiles(place, { folder: "agents", refuses: refusedFile });
  const read = files.map(definitionOf);
  const own = read.filter((one) => typeof one !== "string");
  const wrong = read.filter((one) => typeof one === "string");
  const builtin = builtinAgents.filter(({ name }) => !own.some((one) => one.name === name));
  return { agents: [...builtin, ...own], remarks: [...remarks, ...wrong] };
}

/** What only reads stays so in a project that nobody has looked at. */
function refusedFile(file: CustomFile): string | undefined {
  const name = textOf(file.fields, "name") ?? file.name;
  if (!file.isProjects || !builtinAgents.some((one) => one.name === name)) return undefined;
  return `${file.path} was left out: ${name} is built in, and only your own definition may replace it`;
}

const longestAbout = 160;

/** A sentence when it is none. What it asks for beyond its parent's is not there: nothing in it allows anything. */
function definitionOf({ name: file, path, fields, body }: CustomFile): AgentDefinition | string {
  const name = textOf(fields, "name") ?? file;
  const about = textOf(fields, "description");
  if (!/^[\w.-]{1,60}$/u.test(name)) return `${path} was left out: "${name}" is no name for an agent`;
  if (about === undefined) return `${path} was left out: it has no description`;
  if (body.trim() === "") return `${path} was left out: it says nothing to the agent`;
  const permissions = permissionsOf(fields);
  if (typeof permissions === "string") return `${path} was left out: ${permissions}`;
  // `Bash(git *)` gives a part of a tool, which we cannot: none of it. What is taken away in part goes whole.
  const tools = toolsOf(fields, "tools")?.filter((one) => !one.includes("("));
  const without = toolsOf(fields, "disallowedTools")?.map((one) => one.replace(/\(.*$/su, ""));
  const model = textOf(fields, "model");
  const effort = efforts.find((one) => one === textOf(fields, "effort"));
  const steps = Number(textOf(fields, "maxTurns") ?? textOf(fields, "steps"));
  const kind = { name, about: shortened(about), onlyReads: onlyReads(permissions.mode) };
  return {
    ...kind,
    role: body.trim(),
    ...(tools && { tools: toolNames(tools) }),
    ...(without && { without: toolNames(without) }),
    ...(model !== undefined && isModel(model) && { model }),
    ...(effort && { effort }),
    ...(Number.isInteger(steps) && steps > 0 && { steps }),
    ...permissions,
  };
}

function shortened(about: string): string {
  const line = about.replace(/\s+/gu, " ");
  return line.length <= longestAbout ? line : `${line.slice(0, longestAbout).replace(/\s+\S*$/u, "")}…`;
}

/** Other agents' short names for their own maker's models, and the word for the parent's. */
function isModel(model: string): boolean {
  return !["inherit", "sonnet", "opus", "haiku", "default"].includes(model);
}

function toolsOf(fields: Fields, name: string): readonly string[] | undefined {
  const named = listOf(fields, name);
  return named === undefined || named.includes("*") ? undefined : named;
}

function onlyReads(mode: Mode | undefined): boolean {
  return mode === "read-only" || mode === "plan";
}

const modeNames: Readonly<Record<string, Mode | undefined>> = {
  "read-only": "read-only",
  plan: "plan",
  ask: "ask",
  auto: "auto",
  // As others write them; what would allow more than the parent's allows nothing more here.
  default: "ask",
};

const kinds: readonly EffectKind[] = ["read", "write", "delete", "execute", "network", "vcs", "process"];

/** `permissions: {mode, deny: [KIND:GLOB]}`, and `permissionMode` as others write it. */
function permissionsOf(fields: Fields): Pick<AgentDefinition, "mode" | "rules"> | string {
  const { permissions } = fields;
  const own: Fields =
    typeof permissions === "object" && !Array.isArray(permissions) ? (permissions as Fields) : {};
  if (permissions !== undefined && own !== permissions) return "its permissions are no list of fields";
  const stranger = Object.keys(own).find((name) => name !== "mode" && name !== "deny");
  if (stranger !== undefined) return `its permissions can name a mode and what to deny, not "${stranger}"`;
  const word = textOf(own, "mode");
  const mode = modeNames[word ?? textOf(fields, "permissionMode") ?? ""];
  if (word !== undefined && mode === undefined) return `"${word}" is no permission mode`;
  const rules = (listOf(own, "deny") ?? []).map(denyRule);
  const wrong = rules.find((rule) => typeof rule === "string");
  if (wrong !== undefined) return wrong;
  return {
    ...(mode && { mode }),
    ...(rules.length > 0 && { rules: rules.filter((rule) => typeof rule !== "string") }),
  };
}

function denyRule(text: string): Rule | string {
  const [, word, target = ""] = /^(\w+):(.+)$/su.exec(text) ?? [];
  const kind = kinds.find((one) => one === word);
  if (!kind) return `what it denies is written KIND:GLOB, not "${text}"`;
  return {
    name: "agent",
    verdict: "deny",
    kinds: [kind],
    target: target.trim(),
    why: "this subagent may not",
  };
}
