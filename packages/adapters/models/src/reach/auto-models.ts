/** Auto models: which models a router may choose of, for `auto` in place of a model. */
import { type Failure, failure, type ModelInfo } from "@lathe/protocol";
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
import { providers } from "../providers.ts";
import { isReached, type UserAccess } from "./choose-models.ts";

/** `what`: where to look further. */
export function nothingToChoose(what: string): Failure {
  const none = `there is no model to choose of: none that your keys reach has a known price and is allowed (${what})`;
  return failure("model-unknown", none, { who: "user" });
}

/** Patterns of model ids: one of each list of the allowed must match, and none of the blocked. */
interface Allowing {
  readonly allow: readonly (readonly string[])[];
  readonly block: readonly string[];
}

/** Of the known models, those that are reached and allowed, that call tools, and whose price is known; in a stable order. */
export function autoModels(
  known: readonly ModelInfo[],
  options: UserAccess & { readonly router: Allowing; readonly isAll?: boolean },
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
