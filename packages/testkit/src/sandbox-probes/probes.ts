/** All probes of the sandbox: what must not get out, and what must work. */
import { gitEscapes } from "./escapes/git.ts";
import { network } from "./escapes/network.ts";
import { plainWrites } from "./escapes/plain-writes.ts";
import { procPaths } from "./escapes/proc-paths.ts";
import { runLater } from "./escapes/run-later.ts";
import { secrets } from "./escapes/secrets.ts";
import { sockets } from "./escapes/sockets.ts";
import type { EscapeProbe, Probe } from "./probe.ts";

const escapes: readonly EscapeProbe[] = [
  ...plainWrites,
  ...procPaths,
  ...secrets,
  ...sockets,
  ...network,
  ...gitEscapes,
  ...runLater,
];

export const escapeProbes: readonly Probe[] = escapes.map((probe) => ({ kind: "escape", ...probe }));
