/** `lathe report`: reports the work of a period, as text, JSON or a page. */

import { writeFileSync } from "node:fs";
import { readExperiments, readReport } from "@lathe/hosts/measure";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { columnsOf, harmless, paletteFor } from "@lathe/terminal";
import { reportText } from "./report-text.ts";

interface Asked {
  readonly since: number;
  readonly until: number;
  readonly withNames: boolean;
  readonly json: boolean;
  readonly html: string | undefined;
}

export async function reportWork({ json, html, ...query }: Asked): Promise<number | Failure> {
  const report = await readReport(process.env, query);
  for (const remark of report.remarks) process.stderr.write(harmless(`${remark}\n`));
  if (html !== undefined) {
    const [{ reportPage }, { ownExperiments }] = await Promise.all([
      import("./report-page.ts"),
      import("@lathe/config"),
    ]);
    const experiments = await ownExperiments(process.env);
    if (isFailure(experiments)) return experiments;
    const compared = await readExperiments(process.env, experiments, query.until);
    try {
      writeFileSync(html, reportPage(report, compared));
    } catch (cause) {
      return failure("no-access", `the page could not be written to ${html}`, { who: "user", cause });
    }
    process.stdout.write(`written to ${html}\n`);
    return 0;
  }
  const view = {
    paint: paletteFor(process.stdout, process.env),
    width: columnsOf(process.stdout),
    isPiped: !process.stdout.isTTY,
  };
  // The path of the tickets is private to this machine.
  const { tickets: _t, remarks: _r, ...told } = report;
  process.stdout.write(json ? `${JSON.stringify(told)}\n` : reportText(report, view));
  return 0;
}
