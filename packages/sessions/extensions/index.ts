/**
 * @lathe/extensions: agents, commands, skills, hooks and servers that people and projects add to Lathe. The
 * parts that read them have their own export paths, so they can be loaded late.
 */
export type { AgentDefinition } from "./src/agents/agent-definition.ts";
export { restrictTools } from "./src/agents/restrict-tools.ts";
export { type ExtensionPlace, isConfigWritable } from "./src/files/extension-place.ts";
export { readRegularFile, readRootFile } from "./src/files/read-file.ts";
export { mayHaveProjectHooks } from "./src/hooks/hook-places.ts";
export { loadHooks } from "./src/hooks/load-hooks.ts";
export type { SessionHooks } from "./src/hooks/session-hooks.ts";
export { type Instructions, nestedInstructions, readInstructions } from "./src/instructions.ts";
export { mayHaveMemory } from "./src/memory/memory-file.ts";
export {
  addProjectRules,
  type ProjectRule,
  projectRulesFile,
  readProjectRules,
  removeProjectRule,
} from "./src/trust/project-rules.ts";
export {
  canTrust,
  changesSince,
  differingFiles,
  type ItemChange,
  readTrust,
  type TrustedItem,
  type TrustRecord,
  writeTrust,
} from "./src/trust/trust-store.ts";
