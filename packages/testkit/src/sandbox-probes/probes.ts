/** All probes of the sandbox: what must not get out, and what must work. */
import { gitEscapes } from "./escapes/git.ts";
import { kernelFiles } from "./escapes/kernel-files.ts";
import { mounts } from "./escapes/mounts.ts";
import { network } from "./escapes/network.ts";
import { plainWrites } from "./escapes/plain-writes.ts";
import { privileges } from "./escapes/privileges.ts";
import { procPaths } from "./escapes/proc-paths.ts";
import { processes } from "./escapes/processes.ts";
import { resources } from "./escapes/resources.ts";
import { runLater } from "./escapes/run-later.ts";
import { secrets } from "./escapes/secrets.ts";
import { sockets } from "./escapes/sockets.ts";
import { survivors } from "./escapes/survivors.ts";
import { systemCalls } from "./escapes/system-calls.ts";
import { terminal } from "./escapes/terminal.ts";
import type { EscapeProbe, Probe, WorkProbe } from "./probe.ts";
import { gitWork } from "./work/git.ts";
import { languageWork } from "./work/languages.ts";
import { machineWork } from "./work/machine.ts";
import { shellWork } from "./work/shell.ts";

const escapes: readonly EscapeProbe[] = [
  ...plainWrites,
  ...procPaths,
  ...mounts,
  ...kernelFiles,
  ...privileges,
  ...processes,
  ...systemCalls,
  ...sockets,
  ...network,
  ...secrets,
  ...gitEscapes,
  ...runLater,
  ...terminal,
  ...survivors,
  ...resources,
];

export const escapeProbes: readonly Probe[] = escapes.map((probe) => ({ kind: "escape", ...probe }));

const works: readonly WorkProbe[] = [...shellWork, ...machineWork, ...gitWork, ...languageWork];

export const workProbes: readonly Probe[] = works.map((probe) => ({ kind: "work", ...probe }));
