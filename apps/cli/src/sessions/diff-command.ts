/** `lathe sessions diff`: what a session changed. */

import { changesText } from "@lathe/client";
import { findSession, sessionChanges } from "@lathe/hosts/stored";
import { type Failure, isFailure } from "@lathe/protocol";
import { paletteFor } from "@lathe/terminal";
import { whileBusy } from "../output/while-busy.ts";

export async function diffCommand(start: string, json: boolean): Promise<number | Failure> {
  const id = await findSession(process.env, start);
  if (isFailure(id)) return id;
  const changes = await whileBusy("comparing files", () => sessionChanges(process.env, id));
  if (isFailure(changes)) return changes;
  const text = json
    ? `${JSON.stringify(changes.files)}\n`
    : changesText(changes, paletteFor(process.stdout, process.env));
  process.stdout.write(text);
  return 0;
}
