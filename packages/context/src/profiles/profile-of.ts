/** Finds the profile of a model, or the closest one: by family, then by the nearest version that is not newer. */
import { claude } from "./claude.ts";
import { claude5 } from "./claude-5.ts";
import { deepseek } from "./deepseek.ts";
import { kinOf, seeing } from "./families.ts";
import { gemini } from "./gemini.ts";
import { gemma } from "./gemma.ts";
import { glm } from "./glm.ts";
import { gpt4 } from "./gpt-4.ts";
import { gpt5 } from "./gpt-5.ts";
import { gptOss } from "./gpt-oss.ts";
import { grok } from "./grok.ts";
import { kimi } from "./kimi.ts";
import { llama } from "./llama.ts";
import { minimax } from "./minimax.ts";
import { mistral } from "./mistral.ts";
import { other } from "./other.ts";
import type { Profile, Version } from "./profile.ts";
import { qwen } from "./qwen.ts";

/** Of each family the oldest first. */
export const profiles: readonly Profile[] = [
  claude,
  claude5,
  gpt4,
  gpt5,
  gptOss,
  gemini,
  grok,
  kimi,
  glm,
  minimax,
  deepseek,
  qwen,
  mistral,
  llama,
  gemma,
  other,
];

/** `model` as it is named, behind whatever provider, e.g. `openrouter/anthropic/claude-opus-5.5`. */
export function profileOf(model: string): Profile {
  const name = model.slice(model.lastIndexOf("/") + 1);
  const kin = kinOf(name);
  const family = profiles.filter((one) => one.family === kin?.family);
  const version = kin?.version;
  const found = family.findLast(({ since }) => !version || isUpTo(since, version)) ?? family[0] ?? other;
  return !found.images && seeing.test(name) ? { ...found, images: true } : found;
}

function isUpTo([major, minor]: Version, [most, mostMinor]: Version): boolean {
  return major < most || (major === most && minor <= mostMinor);
}
