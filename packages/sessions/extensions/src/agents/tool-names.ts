/** Tool names: ours for those that definitions written for other agents use. */
import { builtinTools, mcpName } from "@lathe/tools";

/** All tools that change a file's text: a model is offered those of its own dialect. */
const editing = ["edit", "write", "apply_patch"];

/** By the small letters of theirs: others write the same ones large and small. */
const others: Readonly<Record<string, readonly string[] | undefined>> = {
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
  // A subagent hands in no plan.
  exitplanmode: [],
};

/** Tools that not every session has. */
const further = ["diagnostics", "plan", "remember", "web_fetch", "web_search", "find_tools", "call_tool"];

const ours: ReadonlySet<string> = new Set([...builtinTools.map(({ name }) => name), ...further]);

/** What does the same by another way: who takes the one away takes these, too. */
const alike: Readonly<Record<string, readonly string[] | undefined>> = {
  shell: ["try_mutations"],
  edit: ["delete", "move"],
};

/** Our tools that a name gives; undefined for a name that is not known. */
export function toolsGivenBy(name: string, own: readonly string[]): readonly string[] | undefined {
  if (own.includes(name)) return [name];
  const [, server, tool = ""] = /^mcp__(.+?)__([^*]+)$/u.exec(name) ?? [];
  if (server !== undefined) return [mcpName(server, tool)];
  if (name.startsWith("mcp__")) return [name.replace(/[^\w*-]/gu, "_")];
  return others[name.toLowerCase()] ?? (ours.has(name) ? [name] : undefined);
}

/** Our tools that are not there where a name is taken away; undefined for a name that is not known. */
export function toolsTakenBy(name: string, own: readonly string[]): readonly string[] | undefined {
  const given = toolsGivenBy(name, own);
  return given?.flatMap((one) => [one, ...(alike[one] ?? [])]);
}
