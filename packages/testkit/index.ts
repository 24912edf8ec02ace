/** @lathe/testkit: fakes and conformance suites for tests. */

export { type ClockOptions, createHandMovedClock, type HandMovedClock } from "./src/hand-moved-clock.ts";
export { createMemoryStore, type MemoryStore, type MemoryStoreOptions } from "./src/memory-store.ts";
export {
  createScriptedModel,
  type Script,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedModel,
} from "./src/scripted-model.ts";
