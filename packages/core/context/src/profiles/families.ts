/** Families: which words in a model's name say whose child it is, and where its version stands. */
import type { Version } from "./profile.ts";

/** The word that stands first in the name decides: `deepseek-r1-distill-llama` is a DeepSeek. */
const words: readonly (readonly [word: RegExp, family: string])[] = [
  [/claude/, "claude"],
  [/gpt-?oss/, "gpt-oss"],
  [/(?:chat)?gpt-|codex|(?<![a-z0-9])o[1-9](?![0-9])/, "gpt"],
  [/gemini/, "gemini"],
  [/gemma/, "gemma"],
  [/grok/, "grok"],
  [/kimi|moonshot/, "kimi"],
  [/glm/, "glm"],
  [/minimax/, "minimax"],
  [/deepseek/, "deepseek"],
  [/qwen|qwq/, "qwen"],
  [/mistral|ministral|magistral|mixtral|codestral|devstral|pixtral/, "mistral"],
  [/llama/, "llama"],
];

/** Models that are named by a number of their own count as these. */
const versions: readonly (readonly [name: RegExp, version: Version])[] = [
  [/(?<![a-z0-9])o[1-9]|codex-mini/, [4, 0]],
];

export interface Kin {
  readonly family: string;
  /** Absent where the name does not say. */
  readonly version?: Version;
}

/** `name`: the model's id without providers and folders. Undefined for unknown families. */
export function kinOf(name: string): Kin | undefined {
  const text = name.toLowerCase();
  const found = words
    .map(([word, family]) => ({ family, at: text.search(word) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)[0];
  if (!found) return undefined;
  const version = versions.find(([own]) => own.test(text))?.[1] ?? versionIn(text.slice(found.at));
  return { family: found.family, ...(version !== undefined && { version }) };
}

/** `5-5` and `5.5` are the same; dates and numbers of parameters (`20250514`, `30b`) are none. */
function versionIn(text: string): Version | undefined {
  const [, major, minor = "0"] = /(?<!\d)(\d{1,2})(?![\db])(?:[.-](\d{1,2})(?![\db]))?/.exec(text) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}

/** Models that see images whatever their family does. */
export const seeing: RegExp = /(?:^|[-_.\d])(?:vl|vision|omni)(?:[-_.:]|$)|llava|pixtral/i;
