/** @lathe/sandbox: where commands run. */
export { type BubblewrapOptions, createBubblewrapDriver } from "./src/bubblewrap-driver.ts";
export { commandEnv } from "./src/command-env.ts";
export { type Difference, differencesOf, type Side } from "./src/forks/differences.ts";
export { enterArgs, notEntered } from "./src/forks/enter-fork.ts";
export { dropFork, type Fork, listForks, makeFork, readFork, sweepForks } from "./src/forks/fork.ts";
export { forkRefusal, placeRefusal } from "./src/forks/fork-refusal.ts";
export { heldBack } from "./src/forks/held-back.ts";
export { type Hold, holdFork } from "./src/forks/hold-fork.ts";
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
