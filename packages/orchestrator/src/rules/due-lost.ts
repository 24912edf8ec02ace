/** Due lost: the model is told which commands in the background ended with the process that had the session before. */
import type { Session } from "@lathe/protocol";
import type { Action } from "../action.ts";

export function dueLost({ lost: ended }: Session): Action | undefined {
  if (!ended) return undefined;
  const what = ended.length === 1 ? "background process" : "background processes";
  const text = `The session was left and is gone on with: ${what} ${ended.join(", ")} ended with it. Start again what you still need.`;
  return { type: "post-notice", about: "background", text, ended };
}
