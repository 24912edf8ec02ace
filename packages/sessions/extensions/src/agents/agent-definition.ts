/** Agent definition: a kind of subagent: what it is for, what it is told, and what of its parent's it may use. */
import type { AgentKind, Effort, Mode, Rule } from "@lathe/protocol";

export interface AgentDefinition extends AgentKind {
  /** What it is told of its work. */
  readonly role: string;
  /** Names of the only tools it may have; absent for all that its parent has. */
  readonly tools?: readonly string[];
  /** Names of tools it does not have. */
  readonly without?: readonly string[];
  /** Absent for its parent's. */
  readonly model?: string;
  /** Absent for its parent's. */
  readonly effort?: Effort;
  /** The widest it runs in; its parent's where that is narrower. */
  readonly mode?: Mode;
  /** Steps of a turn. */
  readonly steps?: number;
  /** Rules that only deny. */
  readonly rules?: readonly Rule[];
}

const looking = ["read", "grep", "find_files", "list", "shell", "process"];

export const builtinAgents: readonly AgentDefinition[] = [
  {
    name: "explore",
    about: "finds things out in the workspace, changes nothing",
    onlyReads: true,
    role: "You find things out. Look widely and quickly, several calls at once. You can only read. Answer with what was asked, each finding with path:line, and say what you did not find.",
    tools: looking,
    mode: "read-only",
  },
  {
    name: "implement",
    about: "makes one change that is fully described, and checks it",
    onlyReads: false,
    role: "You make the one change you were given, no more, and check it with the narrowest test there is. Answer with what you changed as path:line, how you checked it, and what is left open.",
    without: ["task", "ask_user"],
  },
  {
    name: "review",
    about: "reads a change critically, changes nothing",
    onlyReads: true,
    role: "You review a change. Read it and the code it touches (git diff shows what is uncommitted). Look for what is wrong, missing or untested, and try to disprove each finding before you name it. Answer with the findings, gravest first, each with path:line and how it fails; say so if there are none.",
    tools: looking,
    mode: "read-only",
  },
];
