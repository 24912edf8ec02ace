/** Bounded writer: writes lines to a stream until so much of them waits unread that whoever reads has stopped reading. */
import type { Writable } from "node:stream";

export interface BoundedWriter {
  write(line: string | Uint8Array): void;
  /** *Contract:* resolves when there is room for more, or nothing is written any more; who has much to write waits for it. */
  drained(): Promise<void>;
}

/** *Contract:* `onFull` is called once, with what waits; nothing is written from then on. */
export function boundedWriter(
  stream: Pick<Writable, "write" | "writableLength" | "writableNeedDrain" | "once" | "off" | "destroyed">,
  most: number,
  onFull: (bytes: number) => void,
): BoundedWriter {
  let isFull = false;
  return {
    write: (line) => {
      if (isFull) return;
      stream.write(line);
      // One long line that is being read is no sign of anything.
      const { writableLength: waits } = stream;
      if (waits <= Math.max(most, 2 * line.length)) return;
      isFull = true;
      onFull(waits);
    },
    drained: () =>
      new Promise((resolve) => {
        if (isFull || stream.destroyed || !stream.writableNeedDrain) return resolve();
        const done = (): void => {
          stream.off("drain", done).off("close", done);
          resolve();
        };
        stream.once("drain", done).once("close", done);
      }),
  };
}
