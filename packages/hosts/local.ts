/** @lathe/hosts/local: Lathe on this machine. */
export { brokenExample, type RuleExamples } from "@lathe/policy";
export { asBefore, type Said } from "./src/as-before.ts";
export { autoMode } from "./src/auto-models.ts";
export { builtinModel, chooseModels, isAuto, isReached } from "./src/choose-models.ts";
export { commandLimits } from "./src/command-limits.ts";
export { configFolder } from "./src/config-folder.ts";
export type { Containment } from "./src/containment.ts";
export type { Finding } from "./src/finding.ts";
export { findSession, listSessions, newestSession, readSession } from "./src/history.ts";
export { homeFolder } from "./src/home-folder.ts";
export type {
  LocalOptions,
  ProviderOptions,
  SandboxChoice,
  SandboxLimits,
  SandboxLimitsChoice,
} from "./src/local-options.ts";
export type { LocalSession, Words } from "./src/local-session.ts";
export { examineMachine } from "./src/machine.ts";
export { unknownModel } from "./src/model-gateway.ts";
export { type ProjectRule, readProjectRules, removeProjectRule } from "./src/project-rules.ts";
export { readRootFile } from "./src/root-file.ts";
export { noRouterOptions, type RouterOptions } from "./src/router-options.ts";
export { openCheckTools } from "./src/session-tools.ts";
export { reserveSessionId, resumeSession, startSession } from "./src/start-session.ts";
export { type Explained, openWorkbench, type Workbench } from "./src/workbench.ts";
