/** `lathe sessions context`: what takes how much of the model's window. */
import { contextText } from "@lathe/client/context-text";
import { findSession, sessionContext } from "@lathe/hosts/stored";
import { type Failure, isFailure } from "@lathe/protocol";
import { columnsOf, paletteFor } from "@lathe/terminal";
import { agentOptions } from "../run/run-options.ts";

export async function contextCommand(start: string, json: boolean): Promise<number | Failure> {
  const id = await findSession(process.env, start);
  if (isFailure(id)) return id;
  const options = await agentOptions({});
  if (isFailure(options)) return options;
  const report = await sessionContext(options, id);
  if (isFailure(report)) return report;
  const view = { paint: paletteFor(process.stdout, process.env), width: columnsOf(process.stdout) };
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : contextText(report, view));
  return 0;
}
