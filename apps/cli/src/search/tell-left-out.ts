/** Tells on stderr that rules keep files from being searched, where nothing was found. */
import { problemLine } from "../command-line/show-failure.ts";

export function tellLeftOut(count: number): void {
  if (count === 0) return;
  const files = count === 1 ? "1 file is" : `${count} files are`;
  process.stderr.write(
    problemLine(`${files} not searched: a rule on reading keeps what usually holds secrets`),
  );
}
