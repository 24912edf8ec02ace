/** Which sandbox driver this machine gets: the best that really works, or none where none is wanted. */

import type { Containment } from "@lathe/sessions";
import { cacheFolder, homeFolder } from "@lathe/system";
import type { LocalOptions, SandboxChoice, SandboxLimitsChoice } from "../local-options.ts";
import { commandLimits } from "./command-limits.ts";

type Check = import("@lathe/sandbox").Check;
type NetworkOptions = import("@lathe/sandbox").NetworkOptions;

interface Place {
  readonly check: Check;
  readonly env: LocalOptions["env"];
  readonly workspace: string;
  readonly sandboxLimits: SandboxLimitsChoice;
  /** Bytes of one command's output that are kept, at most. */
  readonly outputCap?: number;
  /** What its commands reach, where the driver can let them out; nothing when absent. */
  readonly network?: () => NetworkOptions | Promise<NetworkOptions>;
}

export async function openDriver(
  choice: SandboxChoice,
  { env, workspace, network, sandboxLimits, ...more }: Place,
): Promise<Containment> {
  const { createNoneDriver, probeDriver } = await import("@lathe/sandbox");
  const home = homeFolder(env);
  if (choice === "off") return { driver: createNoneDriver({ ...more, home }), reasons: ["switched off"] };
  const cache = { cacheFolder: cacheFolder(env), workspace };
  const limits = await commandLimits(sandboxLimits);
  return probeDriver({
    ...more,
    ...cache,
    home,
    limits,
    ...(network && { network: await network() }),
  });
}
