/** The failure of commands that need a session, before there is one. */
import { type Failure, failure } from "@lathe/protocol";

export const noSession: Failure = failure(
  "session-unknown",
  "there is no session yet: it begins with the first thing you say",
  { who: "user" },
);
