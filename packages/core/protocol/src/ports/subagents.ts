/** The subagents port: tasks handed to sessions of their own. */
import type { Outcome } from "../outcome.ts";
import type { ToolContext } from "./tool.ts";

/** A kind of subagent, as a model chooses it. */
export interface AgentKind {
  readonly name: string;
  /** One line: what to use it for. */
  readonly about: string;
  /** It can change nothing. */
  readonly onlyReads: boolean;
}

export interface SubagentTask {
  readonly agent: string;
  readonly prompt: string;
  /** Its session: begun, or gone on with where it exists. */
  readonly session: string;
}

export interface Subagents {
  readonly kinds: readonly AgentKind[];
  /** *Contract:* its last answer; ends soon after the context's signal; never rejects for what happens in its session. */
  run(task: SubagentTask, context: ToolContext): Promise<Outcome>;
}
