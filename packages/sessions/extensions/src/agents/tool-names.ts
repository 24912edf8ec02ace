/** Tool names: translates the names in definitions written for other agents. */
import { builtinTools, mcpName } from "@lathe/tools";

/** All tools that edit files; a model is offered those of its edit dialect. */
const editing = ["edit", "write", "apply_patch"];

/** By lower-case name: other agents differ in capitals only. */
const foreignNames: Readonly<Record<string, readonly string[] | undefined>> = {
  read: ["read"],
  notebookread: ["read"],
  grep: ["grep"],
  glob: ["find_files"],
  ls: ["list"],
  bash: ["shell", "process"],
  bashoutput: ["process"],
  killshell: ["process"],
  killbash: ["process"],
  edit: editing,
  multiedit: editing,
  write: editing,
  patch: editing,
  apply_patch: editing,
  notebookedit: editing,
  todowrite: ["todo"],
  todoread: ["todo"],
  task: ["task"],
  agent: ["task"],
  askuserquestion: ["ask_user"],
  skill: ["skill"],
  webfetch: ["web_fetch"],
  websearch: ["web_search"],
  // A subagent does not submit plans.
  exitplanmode: [],
};

/** Tools that only some sessions have. */
const optionalTools = [
  "diagnostics",
  "plan",
  "remember",
  "web_fetch",
  "web_search",
  "find_tools",
  "call_tool",
];

const knownTools: ReadonlySet<string> = new Set([...builtinTools.map(({ name }) => name), ...optionalTools]);

/** Tools with the same effect by other means: removing the one removes these, too. */
const equivalents: Readonly<Record<string, readonly string[] | undefined>> = {
  shell: ["try_mutations"],
  edit: ["delete", "move"],
};

/** The tools that a name grants; undefined for an unknown name. */
export function toolsGrantedBy(name: string, own: readonly string[]): readonly string[] | undefined {
  if (own.includes(name)) return [name];
  const [, server, tool = ""] = /^mcp__(.+?)__([^*]+)$/u.exec(name) ?? [];
  if (server !== undefined) return [mcpName(server, tool)];
  if (name.startsWith("mcp__")) return [name.replace(/[^\w*-]/gu, "_")];
  return foreignNames[name.toLowerCase()] ?? (knownTools.has(name) ? [name] : undefined);
}

/** The tools that are removed with a name; undefined for an unknown name. */
export function toolsRemovedBy(name: string, own: readonly string[]): readonly string[] | undefined {
  const given = toolsGrantedBy(name, own);
  return given?.flatMap((one) => [one, ...(equivalents[one] ?? [])]);
}
