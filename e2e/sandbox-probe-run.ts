/**
 * Runs the sandbox's probes on one driver in this process, the target of the escapes; prints a line of JSON
 * each.
 */
import { globSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { SandboxDriver } from "@lathe/protocol";
import { commandEnv, createNoneDriver, probeDriver } from "@lathe/sandbox";
import type { Inheritance } from "@lathe/testkit/sandbox-probes";
import {
  bareDriverName,
  createBareDriver,
  escapeProbes,
  probeHome,
  runProbes,
  workProbes,
} from "@lathe/testkit/sandbox-probes";

export interface ProbeRun {
  /** The driver's own name; `bare` means no sandbox at all. */
  readonly driver: string;
  readonly folder: string;
  /** Parts of the IDs to run; all if empty. */
  readonly only: readonly string[];
  readonly kind?: "escape" | "work" | undefined;
  readonly inheritance?: Inheritance;
}

async function makeDriver(name: ProbeRun["driver"], home: string): Promise<SandboxDriver> {
  switch (name) {
    case "launcher":
    case "bubblewrap":
    case "landlock": {
      const { driver, reasons } = await probeDriver({
        preference: name,
        home,
        cacheFolder: join(home, "..", "launcher-cache"),
        path: process.env.PATH ?? "",
      });
      if (driver.name !== name) throw new Error(reasons.join(" "));
      return driver;
    }
    case "none":
      return createNoneDriver({ home });
    case bareDriverName:
      return createBareDriver(process.env);
    default:
      throw new Error(`no driver is called ${name}`);
  }
}

/** Uses Rust's real programs instead of the wrappers, which look in the home where they were installed. */
function withToolchain(path: string): string {
  const toolchains = globSync(join(homedir(), ".rustup/toolchains/*/bin"));
  return [...toolchains, ...path.split(":").filter((folder) => !folder.endsWith("/.cargo/bin"))].join(":");
}

async function main(run: ProbeRun): Promise<void> {
  const home = probeHome(run.folder);
  mkdirSync(home, { recursive: true });
  const all = [...workProbes, ...escapeProbes].filter(
    ({ kind }) => run.kind === undefined || kind === run.kind,
  );
  const isWanted = (id: string): boolean =>
    run.only.length === 0 || run.only.some((part) => id.includes(part));
  process.env.PATH = withToolchain(process.env.PATH ?? "");
  const path = process.env.PATH;
  await runProbes(await makeDriver(run.driver, home), {
    probes: all.filter(({ id, group }) => isWanted(id) || isWanted(group)),
    folder: run.folder,
    env: (scratch) => commandEnv(process.env, scratch),
    path,
    inheritance: run.inheritance,
    onResult: (result) => process.stdout.write(`${JSON.stringify(result)}\n`),
  });
}

await main(JSON.parse(process.argv[2] ?? "{}") as ProbeRun);
// A process left by a probe must not keep the run from ending.
process.exit(0);
