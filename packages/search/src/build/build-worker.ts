/** Build worker: indexes its share of a tree's files in a thread of its own. */
import { parentPort, workerData } from "node:worker_threads";
import { type FileOnDisk, indexFiles } from "./index-files.ts";

export interface Share {
  readonly root: string;
  readonly files: readonly FileOnDisk[];
}

export type FromWorker =
  | { readonly type: "progress"; readonly files: number }
  | {
      readonly type: "done";
      readonly bytes: Uint8Array;
      readonly files: readonly { readonly path: string; readonly id: string }[];
    };

const filesPerMessage = 200;

function work({ root, files }: Share): void {
  let unsaid = 0;
  const { segment, files: read } = indexFiles(root, files, () => {
    if (++unsaid < filesPerMessage) return;
    tell({ type: "progress", files: unsaid });
    unsaid = 0;
  });
  const bytes = segment.bytes as Uint8Array<ArrayBuffer>;
  const done: FromWorker = { type: "done", bytes, files: read };
  parentPort?.postMessage(done, [bytes.buffer]);
}

function tell(message: FromWorker): void {
  parentPort?.postMessage(message);
}

work(workerData as Share);
