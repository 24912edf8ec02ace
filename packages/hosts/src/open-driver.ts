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
}

export async function openDriver(
  choice: SandboxChoice,
  { check, env, workspace }: Place,
): Promise<Containment> {
  const { createNoneDriver, probeDriver } = await import("@lathe/sandbox");
  const home = homeFolder(env);
  if (choice === "off") return { driver: createNoneDriver({ check, home }), reasons: ["switched off"] };
  return probeDriver({ check, home, cacheFolder: cacheFolder(env), workspace });
}
