/** @lathe/sdk: sessions for programs. */
export { openSession, runTask } from "./src/open-session.ts";
export { emptyTally, finalText, type Tally, tallied } from "./src/tally.ts";
