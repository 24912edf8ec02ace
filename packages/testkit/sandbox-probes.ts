/** Sandbox probes: escapes it must contain and work it must allow, run and reported. */

export { bareDriverName, createBareDriver } from "./src/sandbox-probes/bare-driver.ts";
export type { Inheritance } from "./src/sandbox-probes/ground.ts";
export type { ProbeResult } from "./src/sandbox-probes/probe.ts";
export { forReducedTier } from "./src/sandbox-probes/reduced-tier.ts";
export { failureTable, scoreOf } from "./src/sandbox-probes/report.ts";
export { probeHome, runProbes } from "./src/sandbox-probes/run-probes.ts";
export { escapeProbes, workProbes } from "./src/sandbox-probes.ts";
