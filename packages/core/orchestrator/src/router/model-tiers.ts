/**
 * Model tiers: how able a model is, as far as that can be told from its name or its price.
 * The order within a family is the providers' own; tiers across families are judged by price and by what is published
 * of coding tests, which harnesses differ in: an error of one tier is possible, and the user's configuration corrects it.
 */
import type { ModelInfo } from "@lathe/protocol";
import type { Tier } from "./weights.ts";

/** By the model's id without its provider, first match. */
const families: readonly (readonly [id: RegExp, tier: Tier])[] = [
  [/haiku|luna|flash(?!-ultra)|-mini|-nano|-lite|codestral|gpt-oss|-small|\b[1-9]b\b/i, "small"],
  [/opus|fable|astra|argon|-ultra|gpt-5\.5\b/i, "large"],
  [
    /sonnet|-sol\b|terra|hydrogen|grok|kimi|glm|qwen.*max|mistral-large|minimax|codex|gemini.*pro|gpt-/i,
    "medium",
  ],
];

/** US dollars per million tokens answered, below which a model nobody knows is taken for small or medium. */
const smallBelow = 4;
const mediumBelow = 18;

/** A model of which neither the name nor the price is known is taken for small: what it can do must be said. */
export function tierOf({ id, price }: Pick<ModelInfo, "id" | "price">): Tier {
  const name = id.slice(id.lastIndexOf("/") + 1);
  const known = families.find(([pattern]) => pattern.test(name))?.[1];
  if (known) return known;
  if (!price) return "small";
  if (price.output < smallBelow) return "small";
  return price.output < mediumBelow ? "medium" : "large";
}
