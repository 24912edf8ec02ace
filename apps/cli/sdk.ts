/** lathe-agent: the agent in a program. */

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
  type Happening,
  openSession,
  run,
} from "./src/sdk/open-session.ts";
export { defineTool, type OwnTool } from "./src/sdk/own-tool.ts";
export type { SessionOptions, Words } from "./src/sdk/session-options.ts";
