/** Opens a sandbox in its scratch folder; returns a failure if the folder cannot be used. */
import { homedir } from "node:os";
import { type Failure, failure, type Sandbox, type SandboxSpec } from "@lathe/protocol";
import { prepareFolders } from "./policy/folders.ts";
import { type DriverOptions, ProcessSandbox } from "./process-sandbox.ts";
import type { Starter } from "./processes/running.ts";
import { scratchFailure } from "./scratch-failure.ts";

export function openSandbox(
  spec: SandboxSpec,
  starter: () => Starter,
  options: DriverOptions & { readonly hasForks?: boolean },
): Sandbox | Failure {
  if (spec.fork && !options.hasForks) {
    return failure("sandbox-unavailable", "this sandbox has no forks: only the launcher's has");
  }
  try {
    return prepareFolders(spec, options.home ?? homedir()) ?? new ProcessSandbox(spec, starter(), options);
  } catch (error) {
    return scratchFailure(spec.scratch, error);
  }
}
