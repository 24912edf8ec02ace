/** Which sandbox driver this machine gets: the best that really works, or none where none is wanted. */
import type { Containment } from "./containment.ts";
import type { SandboxChoice } from "./local-options.ts";

type Check = import("@lathe/sandbox").Check;

export async function openDriver(
  choice: SandboxChoice,
  options: { readonly check?: Check; readonly home: string },
): Promise<Containment> {
  const { createNoneDriver, probeDriver } = await import("@lathe/sandbox");
  if (choice === "off") return { driver: createNoneDriver(options), reasons: ["switched off"] };
  return probeDriver(options);
}
