/** A fork host for tests: the launcher of this machine, and folders below one of the test. */
import { join } from "node:path";
import { failure } from "@lathe/protocol";
import { nativeBinary } from "@lathe/sandbox";
import type { ForkHost } from "./fork-host.ts";

let made = 0;

export function testForkHost(folder: string): ForkHost {
  const cacheFolder = process.env.LATHE_TEST_CACHE ?? join(folder, "cache");
  return {
    folder: join(folder, "state/forks"),
    home: join(folder, "home"),
    newId: () => `fork-${process.pid}-${++made}`,
    binary: async () => {
      const found = await nativeBinary({ cacheFolder, path: process.env.PATH ?? "" });
      return "binary" in found ? found.binary : failure("sandbox-unavailable", found.why);
    },
    journal: (root) => join(folder, "state/workspaces", Buffer.from(root).toString("hex").slice(-24)),
    ownPlaces: () => () => undefined,
    isAwaited: async () => false,
  };
}
