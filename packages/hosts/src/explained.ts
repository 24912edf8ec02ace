/** Explained: a failure of the state folder, with the folder's name and what to do. */
import type { Failure } from "@lathe/protocol";
import { stateFolder } from "./state-folder.ts";

type Env = Readonly<Record<string, string | undefined>>;

const remedies: Readonly<Partial<Record<Failure["code"], string>>> = {
  "disk-full": "free some space there",
  "no-access": "make it writable",
};

/** Other failures than those of the folder stay as they are. */
export function explained(failure: Failure, env: Env): Failure {
  const remedy = remedies[failure.code];
  if (remedy === undefined || failure.who !== "host") return failure;
  const where = `sessions are kept in ${stateFolder(env)}: ${remedy}, or set XDG_STATE_HOME to another folder`;
  return { ...failure, text: `${failure.text}; ${where}` };
}
