/** Hooked tools: translates a call to the tool names and arguments of Claude Code, for which hooks are written. */
import { resolve } from "node:path";
import type { HookedCall } from "@lathe/protocol";

export interface HookedTool {
  readonly tool_name: string;
  readonly tool_input: Readonly<Record<string, unknown>>;
}

type Input = Readonly<Record<string, unknown>>;

/** Tools with exactly one counterpart in Claude Code. */
const counterparts: Readonly<
  Record<string, (input: Input, pathOf: (path: unknown) => string) => HookedTool>
> = {
  shell: (input) => ({ tool_name: "Bash", tool_input: { ...input } }),
  try_mutations: ({ test }) => ({ tool_name: "Bash", tool_input: { command: test } }),
  read: (input, pathOf) => ({ tool_name: "Read", tool_input: { ...input, file_path: pathOf(input.path) } }),
  write: ({ content, path }, pathOf) => ({
    tool_name: "Write",
    tool_input: { file_path: pathOf(path), content },
  }),
  grep: (input, pathOf) => ({ tool_name: "Grep", tool_input: { ...input, path: pathOf(input.path) } }),
  search_code: ({ query, path }, pathOf) => ({
    tool_name: "Grep",
    tool_input: { pattern: query, path: pathOf(path) },
  }),
  symbols: ({ name, path }, pathOf) => ({
    tool_name: "Grep",
    tool_input: { pattern: name ?? "", path: pathOf(path) },
  }),
  find_files: ({ glob, path }, pathOf) => ({
    tool_name: "Glob",
    tool_input: { pattern: glob, path: pathOf(path) },
  }),
  web_fetch: ({ url }) => ({ tool_name: "WebFetch", tool_input: { url } }),
  web_search: ({ query }) => ({ tool_name: "WebSearch", tool_input: { query } }),
  list: ({ path }, pathOf) => ({ tool_name: "LS", tool_input: { path: pathOf(path ?? ".") } }),
  task: ({ agent, prompt }) => ({
    tool_name: "Task",
    tool_input: { subagent_type: agent, prompt, description: `${agent}` },
  }),
  todo: (input) => ({ tool_name: "TodoWrite", tool_input: input }),
  ask_user: (input) => ({ tool_name: "AskUserQuestion", tool_input: input }),
  plan: ({ plan }) => ({ tool_name: "ExitPlanMode", tool_input: { plan } }),
  skill: ({ name }) => ({ tool_name: "Skill", tool_input: { skill: name } }),
};

/** Several where the call changes several files, so that a hook that watches files sees each. */
export function hookedTools({ tool, input: text, effects }: HookedCall, cwd: string): readonly HookedTool[] {
  const input = inputOf(text);
  const pathOf = (path: unknown): string => resolve(cwd, typeof path === "string" ? path : ".");
  if (tool === "edit") {
    const edits = Array.isArray(input.edits) ? input.edits : [];
    const first = Object(edits[0]) as { readonly old?: unknown; readonly new?: unknown };
    const tool_input = { file_path: pathOf(input.path), old_string: first.old, new_string: first.new, edits };
    return [{ tool_name: "Edit", tool_input }];
  }
  if (tool === "process" && input.action === "write") {
    return [{ tool_name: "Bash", tool_input: { command: input.text } }];
  }
  if (tool === "diagnostics") {
    const run = effects.filter(({ kind }) => kind === "execute").map(({ target }) => target);
    if (run.length > 0) return [{ tool_name: "Bash", tool_input: { command: run.join("\n") } }];
  }
  const known = counterparts[tool];
  if (known) return [known(input, pathOf)];
  // Moving and deleting are edits of the files named, too.
  const changed = effects
    .filter(({ kind }) => kind === "write" || kind === "delete")
    .map(({ target }) => target);
  const files = [...new Set(changed)];
  if (files.length === 0) return [{ tool_name: tool, tool_input: input }];
  return files.map((path) => ({ tool_name: "Edit", tool_input: { ...input, file_path: pathOf(path) } }));
}

function inputOf(text: string): Input {
  try {
    return Object(JSON.parse(text)) as Input;
  } catch {
    return {};
  }
}
