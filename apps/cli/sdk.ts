/** lathe-agent: runs the agent inside a program. */
import type { Failure } from "@lathe/protocol";
import type { Turn } from "@lathe/rpc";
import { openSession as openSessionIn, runTask } from "@lathe/sdk";
import type { AgentSession, SessionOptions, Words } from "@lathe/sdk/published";
import { thisProgram } from "./src/run/run-options.ts";

export type {
  AssistantPart,
  Delta,
  Effect,
  Effort,
  Event,
  Failure,
  ImagePart,
  Limits,
  Message,
  Mode,
  Model,
  ModelPart,
  ModelRequest,
  Outcome,
  Session,
  TakenHunks,
  Tool,
  TurnEnd,
  Usage,
} from "@lathe/protocol";
export { isFailure } from "@lathe/protocol";
export type { PartialAnswer, Question, QuestionedCall, QuestionedFile, Turn } from "@lathe/rpc";
export {
  type AgentSession,
  defineTool,
  type Happening,
  type OwnTool,
  type SessionOptions,
  type Words,
} from "@lathe/sdk/published";

/** A failure says what is wrong with the options. */
export function openSession(options: SessionOptions = {}): Promise<AgentSession | Failure> {
  return openSessionIn(thisProgram(), options);
}

/** One task in a session of its own. */
export function run(task: string | Words, options: SessionOptions = {}): Promise<Turn | Failure> {
  return runTask(thisProgram(), task, options);
}
