/** @lathe/hosts/local: Lathe on this machine. */

export { readRootFile } from "@lathe/extensions";
export { brokenExample, type RuleExamples } from "@lathe/policy";
export {
  type Containment,
  type ExplicitOptions as Said,
  inheritSettings as asBefore,
  type OpenSession as LocalSession,
  type Words,
} from "@lathe/sessions";
export { configFolder, homeFolder } from "@lathe/system";
export type {
  LocalOptions,
  ProviderOptions,
  SandboxChoice,
  SandboxLimits,
  SandboxLimitsChoice,
} from "./src/local-options.ts";
export { reserveSessionId, resumeSession, startSession } from "./src/local-sessions.ts";
export type { Finding } from "./src/machine/finding.ts";
export { examineMachine } from "./src/machine/machine.ts";
export { autoMode } from "./src/models/auto-models.ts";
export { builtinModel, chooseModels, isAuto, isReached } from "./src/models/choose-models.ts";
export { unknownModel } from "./src/models/model-gateway.ts";
export { noRouterOptions, type RouterOptions } from "./src/models/router-options.ts";
export { type ProjectRule, readProjectRules, removeProjectRule } from "./src/rules/project-rules.ts";
export { commandLimits } from "./src/sandbox/command-limits.ts";
export { openCheckTools } from "./src/session/session-tools.ts";
export { findSession, listSessions, newestSession, readSession, readState } from "./src/stored-sessions.ts";
export { type Explained, openWorkbench, type Workbench } from "./src/workbench/workbench.ts";
