/** @lathe/hosts/local: Lathe on this machine. */
export type { Containment } from "./src/containment.ts";
export { findSession, listSessions, readSession } from "./src/history.ts";
export type { LocalOptions, ProviderOptions, SandboxChoice } from "./src/local-options.ts";
export type { LocalSession } from "./src/local-session.ts";
export { examineMachine, type Finding } from "./src/machine.ts";
export { resumeSession, startSession } from "./src/start-session.ts";
export { openWorkbench, type Workbench } from "./src/workbench.ts";
