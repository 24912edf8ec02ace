/** All sandbox probes: escapes it must contain, and work it must allow. */
import { gitEscapes } from "./sandbox-probes/escapes/git.ts";
import { kernelFiles } from "./sandbox-probes/escapes/kernel-files.ts";
import { mounts } from "./sandbox-probes/escapes/mounts.ts";
import { network } from "./sandbox-probes/escapes/network.ts";
import { plainWrites } from "./sandbox-probes/escapes/plain-writes.ts";
import { privileges } from "./sandbox-probes/escapes/privileges.ts";
import { procPaths } from "./sandbox-probes/escapes/proc-paths.ts";
import { processes } from "./sandbox-probes/escapes/processes.ts";
import { resources } from "./sandbox-probes/escapes/resources.ts";
import { runLater } from "./sandbox-probes/escapes/run-later.ts";
import { secrets } from "./sandbox-probes/escapes/secrets.ts";
import { sockets } from "./sandbox-probes/escapes/sockets.ts";
import { survivors } from "./sandbox-probes/escapes/survivors.ts";
import { systemCalls } from "./sandbox-probes/escapes/system-calls.ts";
import { terminal } from "./sandbox-probes/escapes/terminal.ts";
import type { EscapeProbe, Probe, WorkProbe } from "./sandbox-probes/probe.ts";
import { gitWork } from "./sandbox-probes/work/git.ts";
import { languageWork } from "./sandbox-probes/work/languages.ts";
import { machineWork } from "./sandbox-probes/work/machine.ts";
import { shellWork } from "./sandbox-probes/work/shell.ts";

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
