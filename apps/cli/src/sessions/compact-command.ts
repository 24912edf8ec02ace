/** `lathe sessions compact`: makes the conversation of a session shorter before it goes on. */

import { usage } from "@lathe/config";
import { compactSession } from "@lathe/hosts/local";
import { findSession, readSession } from "@lathe/hosts/stored";
import { type Failure, fold, isFailure } from "@lathe/protocol";
import { compactedText, paletteFor } from "@lathe/terminal";
import { whileBusy } from "../output/while-busy.ts";
import { agentOptions } from "../run/run-options.ts";

export interface CompactFlags {
  readonly focus: string | undefined;
  readonly json: boolean;
}

export async function compactCommand(
  start: string,
  { focus, json }: CompactFlags,
): Promise<number | Failure> {
  if (focus !== undefined && focus.trim() === "") return usage("--focus needs a text");
  const id = await findSession(process.env, start);
  if (isFailure(id)) return id;
  const events = await readSession(process.env, id);
  if (isFailure(events)) return events;
  const session = fold(events);
  const options = await agentOptions({ cwd: session.cwd, "permission-mode": session.settings.mode });
  if (isFailure(options)) return options;
  const unheard = { attended: session.settings.attended, onEvent: () => {}, onDelta: () => {} };
  const done = await whileBusy("making the conversation shorter", () =>
    compactSession({ ...options, ...unheard, models: [], limits: session.limits }, id, focus),
  );
  if (isFailure(done)) return done;
  const text = compactedText(done, paletteFor(process.stdout, process.env));
  process.stdout.write(json ? `${JSON.stringify(done)}\n` : `${text}\n`);
  return 0;
}
