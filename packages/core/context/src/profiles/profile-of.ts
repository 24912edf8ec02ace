/** Finds the profile of a model, or the closest one: by family, then by the nearest version that is not newer. */
import { type Session, tuningOf } from "@lathe/protocol";
import { kinOf, seeing } from "./families.ts";
import type { Profile, Version } from "./profile.ts";
import { other, profiles } from "./profiles.ts";

/** `model` includes any provider, e.g. `openrouter/anthropic/claude-opus-5.5`. */
export function profileOf(model: string): Profile {
  const name = model.slice(model.lastIndexOf("/") + 1);
  const kin = kinOf(name);
  const family = profiles.filter((one) => one.family === kin?.family);
  const version = kin?.version;
  const found = family.findLast(({ since }) => !version || isUpTo(since, version)) ?? family[0] ?? other;
  return !found.images && seeing.test(name) ? { ...found, images: true } : found;
}

/** The profile, with the session's experimental settings. */
export function profileFor({ settings }: Pick<Session, "settings">, model: string): Profile {
  const tuning = tuningOf(settings.experiments);
  return tuning ? { ...profileOf(model), ...tuning } : profileOf(model);
}

function isUpTo([major, minor]: Version, [most, maxMinor]: Version): boolean {
  return major < most || (major === most && minor <= maxMinor);
}
