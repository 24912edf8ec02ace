/** Which sandbox driver this machine gets: the best that really works, or none where none is wanted. */
import { cacheFolder } from "./cache-folder.ts";
import type { Containment } from "./containment.ts";
import { homeFolder } from "./home-folder.ts";
import type { LocalOptions, SandboxChoice } from "./local-options.ts";

type Check = import("@lathe/sandbox").Check;

interface Place {
  readonly check: Check;
  readonly env: LocalOptions["env"];
  readonly workspace: string;
  /** Bytes of one command's output that are kept, at most. */
  readonly outputCap?: number;
}

export async function openDriver(
  choice: SandboxChoice,
  { env, workspace, ...more }: Place,
): Promise<Containment> {
  const { createNoneDriver, probeDriver } = await import("@lathe/sandbox");
  const home = homeFolder(env);
  if (choice === "off") return { driver: createNoneDriver({ ...more, home }), reasons: ["switched off"] };
  return probeDriver({ ...more, home, cacheFolder: cacheFolder(env), workspace });
}
