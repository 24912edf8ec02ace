/** Auto models: `auto` in place of a model, and which models the router may then choose of. */
import { providers } from "@lathe/models";
import type { RouterOptions } from "@lathe/orchestrator/router";
import { type Failure, failure, type ModelInfo, type RouterMode, routerModes } from "@lathe/protocol";
import {
  anyCharacter,
  either,
  many,
  one,
  type TextMatcher,
  text,
  withinFolder,
} from "@lathe/protocol/pattern";
import { patternMatcher } from "@lathe/protocol/pattern/matcher";
import type { LocalOptions } from "../local-options.ts";
import { isAuto, isReached } from "./choose-models.ts";

/** The mode that `auto` or `auto:MODE` asks for; undefined for models that are named. */
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

/** `what`: where to look further. */
export function nothingToChoose(what: string): Failure {
  const none = `there is no model to choose of: none that your keys reach has a known price and is allowed (${what})`;
  return failure("model-unknown", none, { who: "user" });
}

type Allowing = Pick<RouterOptions, "allow" | "block">;

/** Of the known models, those that are reached and allowed, that call tools, and whose price is known; in a stable order. */
export function autoModels(
  known: readonly ModelInfo[],
  options: Pick<LocalOptions, "env" | "providers"> & { readonly router: Allowing; readonly isAll?: boolean },
): readonly ModelInfo[] {
  const { router, isAll } = options;
  const order = Object.keys(providers);
  const place = ({ id }: ModelInfo): number => {
    const at = order.indexOf(id.slice(0, id.indexOf("/")));
    return at < 0 ? order.length : at;
  };
  return known
    .filter(({ tools, price }) => tools !== false && price !== undefined)
    .filter(({ id }) => isAllowed(id, router) && (isAll || isReached(id, options)))
    .toSorted((a, b) => place(a) - place(b));
}

/** *Contract:* pure; whether every list of the allowed has the model, and none of the blocked. */
export function isAllowed(id: string, { allow, block }: Allowing): boolean {
  const matches = (pattern: string): boolean => matcherOf(pattern)(id.toLowerCase());
  return allow.every((list) => list.some(matches)) && !block.some(matches);
}

/** `*` stands for anything; without a provider the name alone is compared. Dots and dashes are the same, as in ids. */
function matcherOf(pattern: string): TextMatcher {
  const parts = (pattern.toLowerCase().match(/[.-]|\*|[^.*-]+/g) ?? []).map((part) => {
    if (part === "*") return many(anyCharacter);
    return /[.-]/.test(part) ? one("[.-]") : text(part);
  });
  const isWhole = pattern.includes("/") || pattern.startsWith("*");
  return patternMatcher(
    isWhole ? parts : [either([one(withinFolder), many(withinFolder), text("/")], []), ...parts],
  );
}
