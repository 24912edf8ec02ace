/** @lathe/extensions: what people and projects add to Lathe; the parts that read it are loaded by paths of their own. */
export type { AgentDefinition } from "./src/agents/agent-definition.ts";
export { heldTools } from "./src/agents/restrict-tools.ts";
export { type ExtensionPlace, isInReach } from "./src/files/extension-place.ts";
export { readRegularFile } from "./src/files/regular-file.ts";
export { readRootFile } from "./src/files/root-file.ts";
export { loadHooks } from "./src/hooks/load-hooks.ts";
export { mayHaveProjectHooks } from "./src/hooks/may-have-hooks.ts";
export type { SessionHooks } from "./src/hooks/session-hooks.ts";
export { type Instructions, nestedInstructions, readInstructions } from "./src/instructions.ts";
export { mayRemember } from "./src/memory/may-remember.ts";
export {
  canBeKept,
  changesSince,
  differingFiles,
  type ItemChange,
  keepLook,
  type Look,
  type LookedItem,
  readLook,
} from "./src/trust/trust-store.ts";
