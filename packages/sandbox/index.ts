/** @lathe/sandbox: where commands run. */
export { type BubblewrapOptions, createBubblewrapDriver } from "./src/bubblewrap-driver.ts";
export { commandEnv } from "./src/command-env.ts";
export { isGrantable, realOf } from "./src/grantable.ts";
export {
  createLauncherDriver,
  createSocketDriver,
  type LauncherOptions,
  type SocketOptions,
} from "./src/launcher-driver.ts";
export { nativeBinary } from "./src/native-binary.ts";
export type { NetworkOptions } from "./src/network-gate.ts";
export { isOfferedHost } from "./src/network-offers.ts";
export { createNoneDriver } from "./src/none-driver.ts";
export { type Probe, type ProbeOptions, probeDriver, type TierReport } from "./src/probe.ts";
export type { Check, DriverOptions } from "./src/process-sandbox.ts";
export { type HostRule, matchingRule, parseHostRule, proposedRule } from "./src/proxy/host-rule.ts";
export type { NetworkDecision } from "./src/proxy/proxy-core.ts";
export { type RegistryKind, registryHosts, registryKinds } from "./src/proxy/registry-hosts.ts";
export { usualLimits } from "./src/sandbox-policy.ts";
export { type Tried, type VerifyOptions, verifyDriver, verifySecret } from "./src/verify-driver.ts";
