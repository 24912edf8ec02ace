/** @lathe/keep-rate: how many lines that an agent wrote still exist later, and who changed the others. */
export { createAligner } from "./src/align.ts";
export { type FollowedSession, followHistory } from "./src/follow-history.ts";
export {
  type KeepChange,
  type KeepMeasured,
  type KeepSession,
  type KeepSources,
  measureKeep,
} from "./src/measure-keep.ts";
export {
  type Horizon,
  horizonNames,
  type KeepDimension,
  type KeepReport,
  type KeepRow,
  keptOf,
  openObservations,
  readKeep,
} from "./src/observations.ts";
export { sessionLines } from "./src/session-lines.ts";
export { createTexts } from "./src/text.ts";
export { removedBy, type TrackedLine } from "./src/tracked-line.ts";
