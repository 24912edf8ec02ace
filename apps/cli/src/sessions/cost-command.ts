/** `lathe sessions cost`: what a session cost, step by step, and where the money went. */

import { costText } from "@lathe/client/cost-text";
import { findSession, sessionCost } from "@lathe/hosts/stored";
import { type Failure, isFailure } from "@lathe/protocol";
import { columnsOf, paletteFor } from "@lathe/terminal";

export async function costCommand(start: string, json: boolean): Promise<number | Failure> {
  const id = await findSession(process.env, start);
  if (isFailure(id)) return id;
  const report = await sessionCost(process.env, id);
  if (isFailure(report)) return report;
  const view = { paint: paletteFor(process.stdout, process.env), width: columnsOf(process.stdout) };
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : costText(report, view));
  return 0;
}
