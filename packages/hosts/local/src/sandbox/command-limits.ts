/** Command limits: the limits of commands on this machine, from the defaults and the user's choices. */
import type { SandboxLimits, SandboxLimitsChoice } from "../local-options.ts";

export async function commandLimits({ wanted, most }: SandboxLimitsChoice): Promise<SandboxLimits> {
  const { usualLimits } = await import("@lathe/sandbox");
  const usual = usualLimits();
  const least = (name: keyof SandboxLimits): number =>
    Math.min(wanted[name] ?? usual[name], most[name] ?? Number.POSITIVE_INFINITY);
  return {
    memoryBytes: least("memoryBytes"),
    processes: least("processes"),
    fileBytes: least("fileBytes"),
  };
}
