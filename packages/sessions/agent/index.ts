/** @lathe/agent: one assembled agent; its caller supplies the ports. */
export type { NewSession, RunOptions, SessionOrigin } from "./src/agent.ts";
export { type AnalyzedCall, analyzeCall } from "./src/analyze-call.ts";
export {
  decideThrough,
  decidingLayersAlone,
  runningLayers,
  runThrough,
  typedLayers,
} from "./src/call-layers.ts";
export { createChangedFiles } from "./src/changed-files.ts";
export { type Asking, askingOf } from "./src/gather-facts.ts";
export { runAgent } from "./src/run-agent.ts";
export { sessionCreated } from "./src/session-created.ts";
export { createShownTexts, type ShownTexts } from "./src/shown-texts.ts";
export { type CallContext, toolContext } from "./src/tool-context.ts";
