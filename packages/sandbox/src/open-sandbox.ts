/** Opens a sandbox in its scratch folder; what the folder does not allow is a failure. */
import { homedir } from "node:os";
import type { Failure, Sandbox, SandboxSpec } from "@lathe/protocol";
import { prepareFolders } from "./folders.ts";
import { type DriverOptions, ProcessSandbox } from "./process-sandbox.ts";
import type { Starter } from "./running.ts";
import { scratchFailure } from "./scratch-failure.ts";

export function openSandbox(
  spec: SandboxSpec,
  starter: () => Starter,
  options: DriverOptions,
): Sandbox | Failure {
  try {
    return prepareFolders(spec, options.home ?? homedir()) ?? new ProcessSandbox(spec, starter(), options);
  } catch (error) {
    return scratchFailure(spec.scratch, error);
  }
}
