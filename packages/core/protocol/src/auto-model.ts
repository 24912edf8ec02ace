/** Auto model: `auto` in place of a model ID lets a router choose. */
import { type Failure, failure } from "./failure.ts";
import { type RouterMode, routerModes } from "./routing.ts";

/** Whether the ID lets a router choose the model. */
export function isAuto(id: string): boolean {
  return id === "auto" || id.startsWith("auto:");
}

/** The mode that `auto` or `auto:MODE` selects; undefined if models are named. */
export function autoMode(models: readonly string[]): RouterMode | undefined | Failure {
  const auto = models.find(isAuto);
  if (auto === undefined) return undefined;
  if (models.length > 1) {
    return wrong(`${auto} stands alone: when a model fails, the next best takes over`);
  }
  const asked = auto === "auto" ? "balanced" : auto.slice("auto:".length);
  const mode = routerModes.find((one) => one === asked);
  return mode ?? wrong(`the modes are ${routerModes.map((one) => `auto:${one}`).join(", ")}, not ${auto}`);
}

function wrong(what: string): Failure {
  return failure("config-invalid", what, { who: "user" });
}
