/** Makes a second pair of layers with a fork's content: work on it leaves the fork unchanged. */

import { execFile } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Failure, type ForkLayers, failure } from "@lathe/protocol";
import { findProgram, removeTree, systemPath } from "@lathe/system";
import type { Fork } from "./fork.ts";

const run = promisify(execFile);
const name = "copy";

export interface CopiedLayers {
  readonly layers: ForkLayers;
  /**
   * *Contract:* call once nothing has them open; best effort, since they are removed with the fork at the
   * latest.
   */
  remove(): void;
}

/** *Contract:* only while the fork is not open. The layers are in the fork's folder, one pair at a time. */
export async function copyLayers({ id, folder, upper }: Fork): Promise<CopiedLayers | Failure> {
  const place = join(folder, name);
  const layers = { upper: join(place, "upper"), work: join(place, "work") };
  const remove = (): void => {
    try {
      if (existsSync(place)) removeTree(Buffer.from(place));
    } catch {
      // It goes with the fork.
    }
  };
  remove();
  try {
    mkdirSync(layers.work, { recursive: true, mode: 0o700 });
    // Includes the marks for deleted paths and replaced folders: devices and attributes.
    await run(findProgram("cp", { path: systemPath }) ?? "/bin/cp", ["-a", "--", upper, layers.upper]);
    return { layers, remove };
  } catch (cause) {
    remove();
    const text = `what the fork ${id} holds could not be copied for a trial: ${String(cause)}`;
    return failure("no-access", text, { who: "host", cause });
  }
}
