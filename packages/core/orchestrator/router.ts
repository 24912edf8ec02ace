/** Chooses a model for a task. */

export { routeSession, routeTask } from "./src/router/router.ts";
export { noRouterOptions, type RouterOptions } from "./src/router/router-options.ts";
export type { Tier, Weights } from "./src/router/weights.ts";
