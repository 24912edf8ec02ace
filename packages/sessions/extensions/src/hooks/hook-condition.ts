/** Hook condition: Claude Code's `if`, which names the calls of a tool that a hook is run for: `Bash(git *)`. */
import { anyCharacter, either, many, text } from "@lathe/protocol/pattern";
import { patternMatcher } from "@lathe/protocol/pattern/matcher";
import type { HookedTool } from "./hooked-tools.ts";
import { commandsIn, runsWithin, type Word, withoutKeywords } from "./shell-words.ts";

export interface Condition {
  readonly tool: string;
  /** Of a command; absent for every call of the tool. */
  readonly pattern?: string;
}

/** Undefined for what is not understood here: a tool by its name, and commands by a pattern, are. */
export function readCondition(condition: string): Condition | undefined {
  const [, tool = "", pattern] = /^(\w+)(?:\((.*)\))?$/su.exec(condition.trim()) ?? [];
  if (tool === "" || pattern === "") return undefined;
  if (pattern === undefined || pattern === "*") return { tool };
  return tool === "Bash" ? { tool, pattern } : undefined;
}

/** `in-part`: of some of its commands, or nobody knows; a hook that watches for them is run, and allows nothing. */
export type Holding = "wholly" | "in-part" | "not";

export function holds({ tool, pattern }: Condition, call: HookedTool, cwd: string): Holding {
  if (call.tool_name !== tool) return "not";
  if (pattern === undefined) return "wholly";
  const { command } = call.tool_input;
  if (typeof command !== "string") return "in-part";
  const parts = commandsIn(command, cwd)
    .map(withoutKeywords)
    .filter((words) => words.length > 0);
  const matching = parts.filter((words) => matches(pattern, words));
  if (parts.some(isUnclear)) return "in-part";
  if (matching.length === 0) return "not";
  return matching.length === parts.length ? "wholly" : "in-part";
}

const anything = many(anyCharacter);

/** Variables set for it and what only waits or measures do not hide a command. */
function matches(pattern: string, words: readonly Word[]): boolean {
  const at = words.findIndex((word) => !/^\w+=|^(?:time|nohup|nice|exec|command)$/u.test(word.text));
  const command = words
    .slice(Math.max(0, at))
    .map((word) => word.text)
    .join(" ");
  // `git *` is git with anything or nothing behind it, and no gitk.
  const [, start = "", last] = /^(.*?)( \*)?$/su.exec(pattern.replace(/:\*$/u, " *")) ?? [];
  const parts = start.split("*").flatMap((part, i) => (i === 0 ? [text(part)] : [anything, text(part)]));
  return patternMatcher(last === undefined ? parts : [...parts, either([text(" "), anything], [])])(command);
}

const running: ReadonlySet<string> = new Set(
  "sh bash dash zsh eval source . xargs env sudo find ssh timeout".split(" "),
);

/** What it runs stands in words of it, or is worked out by the shell. */
function isUnclear(words: readonly Word[]): boolean {
  const [first] = words;
  return first?.isOpen === true || running.has(first?.text ?? "") || words.some(runsWithin);
}
