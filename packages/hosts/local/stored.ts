/** @lathe/hosts/stored: the sessions that are stored on this machine, and what was typed in them. */
export { readPrompts, rememberPrompt } from "./src/history/prompt-history.ts";
export { sessionTrajectory } from "./src/session-trajectory.ts";
export {
  answerQuestion,
  deleteSession,
  descendantsOf,
  findSession,
  followSession,
  forkSession,
  listSessions,
  nameSession,
  newestFree,
  newestRunning,
  newestSession,
  readSession,
  readState,
  rewindSession,
  sessionChanges,
  sessionContext,
  sessionCost,
  sessionEdits,
  sessionOutputs,
  undoRewind,
  wholeOutput,
} from "./src/stored-sessions.ts";
