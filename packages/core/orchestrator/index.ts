/** @lathe/orchestrator: decides the next action of a session, and performs it. */
export type { Action } from "./src/action.ts";
export { callPreparer } from "./src/calls/prepare-call.ts";
export { drive } from "./src/drive.ts";
export { next } from "./src/next.ts";
export { perform } from "./src/perform.ts";
export type {
  Agent,
  Amid,
  Compactor,
  DecidingCall,
  Entry,
  Excess,
  Handover,
  PerformContext,
  Ruling,
} from "./src/ports.ts";
export { mayAutoContinue, reachedAutoContinueLimit } from "./src/session/auto-continue.ts";
