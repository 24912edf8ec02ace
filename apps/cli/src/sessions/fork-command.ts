/** `lathe sessions fork`: a new session with the conversation of another one, up to a step. */

import { countFlag } from "@lathe/config";
import { findSession, forkSession } from "@lathe/hosts/stored";
import { type Failure, isFailure } from "@lathe/protocol";
import { commandName } from "../command-line/command-name.ts";
import { harnessVersion } from "../command-line/harness-version.ts";

export async function forkCommand(
  start: string,
  { to, json }: { readonly to: string | undefined; readonly json: boolean },
): Promise<number | Failure> {
  const step = countFlag("to", to, 1);
  if (isFailure(step)) return step;
  const id = await findSession(process.env, start);
  if (isFailure(id)) return id;
  const version = harnessVersion();
  const fork = await forkSession(process.env, id, { version, ...(step !== undefined && { to: step }) });
  if (isFailure(fork)) return fork;
  const text = `${fork}: go on with it: ${commandName(process.env)} --resume ${fork}\n`;
  process.stdout.write(json ? `${JSON.stringify({ id: fork, from: id })}\n` : text);
  return 0;
}
