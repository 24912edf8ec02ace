/** `lathe fork list`: the forks that wait for a decision. */
import { listForks } from "@lathe/hosts/forks";
import { type Failure, isFailure } from "@lathe/protocol";
import { fit } from "../render/fit.ts";
import { paletteFor } from "../render/palette.ts";
import { table } from "../render/table.ts";

const aboutWidth = 40;

export async function listCommand(json: boolean): Promise<number | Failure> {
  const forks = await listForks(process.env);
  if (isFailure(forks)) return forks;
  if (json) {
    const listed = forks.map(({ fork: { id, base, madeAt, about }, ...more }) => ({
      id,
      base,
      madeAt,
      about,
      ...more,
    }));
    process.stdout.write(`${JSON.stringify(listed)}\n`);
    return 0;
  }
  const { bold, dim, green } = paletteFor(process.stdout, process.env);
  if (forks.length === 0) {
    process.stdout.write("No forks wait for a decision.\n");
    return 0;
  }
  const rows = forks.map(({ fork, isOpen, differences }) => [
    bold(fork.id),
    new Date(fork.madeAt).toISOString().slice(0, 16).replace("T", " "),
    isOpen ? green("open") : `${differences} ${differences === 1 ? "change" : "changes"}`,
    fit(fork.base, aboutWidth),
    dim(fit(fork.about, aboutWidth)),
  ]);
  process.stdout.write(table(rows));
  return 0;
}
