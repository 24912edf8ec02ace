/** Families: finds the family and version in a model's name. */
import type { Version } from "./profile.ts";

/** The first word in the name decides: `deepseek-r1-distill-llama` is a DeepSeek. */
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

/** Models with their own numbering count as these versions. */
const versions: readonly (readonly [name: RegExp, version: Version])[] = [
  [/(?<![a-z0-9])o[1-9]|codex-mini/, [4, 0]],
];

export interface Kin {
  readonly family: string;
  /** Absent if the name has none. */
  readonly version?: Version;
}

/** `name`: the model ID without providers and folders. Undefined for unknown families. */
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

/** `5-5` and `5.5` are the same; dates and parameter counts (`20250514`, `30b`) are not versions. */
function versionIn(text: string): Version | undefined {
  const [, major, minor = "0"] = /(?<!\d)(\d{1,2})(?![\db])(?:[.-](\d{1,2})(?![\db]))?/.exec(text) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}

/** Models that see images, unlike others of their family. */
export const seeing: RegExp = /(?:^|[-_.\d])(?:vl|vision|omni)(?:[-_.:]|$)|llava|pixtral/i;
