/** Unread: what becomes of a program that is served over standard output and does not read. */

import { problemLine } from "../command-line/show-failure.ts";
import { type BoundedWriter, boundedWriter } from "./bounded-writer.ts";

/** Of what waits to be read by the other side. */
const maxBytes: number = 16 * 2 ** 20;

export interface ReadOutput extends BoundedWriter {
  /** What to say of it, once nobody reads. */
  unread(): string | undefined;
}

/** *Contract:* `onFull` is called once, when so much waits that whoever reads has stopped; it ends what runs. */
export function readOutput(onFull: () => void): ReadOutput {
  let unread: string | undefined;
  const writer = boundedWriter(process.stdout, maxBytes, (bytes) => {
    unread = notRead(bytes);
    onFull();
  });
  return { ...writer, unread: () => unread };
}

export function notRead(bytes: number): string {
  const what = `${(bytes / 2 ** 20).toFixed(0)} MiB wait to be read on standard output`;
  return `${what}: the program does not read what it is told; what ran for it was ended`;
}

/** What waits on standard output would hold the process until somebody reads it. */
export async function endNow(why: string): Promise<never> {
  await new Promise((resolve) => process.stderr.write(problemLine(why), resolve));
  process.exit(1);
}
