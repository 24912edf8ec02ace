/** @lathe/orchestrator: what happens next, and doing it. */
export type { Action } from "./src/action.ts";
export { prepareCall } from "./src/calls/prepare-call.ts";
export { drive } from "./src/drive.ts";
export { next } from "./src/next.ts";
export { perform } from "./src/perform.ts";
export type {
  Amid,
  Background,
  Compactor,
  Drawn,
  Entry,
  Excess,
  Handover,
  Ports,
  Reach,
} from "./src/ports.ts";
export { isTired, mayWake } from "./src/session/wake.ts";
