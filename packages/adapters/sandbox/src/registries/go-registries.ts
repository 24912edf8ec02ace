/** Go's registries: the value of GOPROXY, from the environment or Go's own file. */
import { readSections } from "./read-sections.ts";
import { plainUrl, type RegistryKeeping } from "./registry-keeping.ts";

/**
 * Returns Go's file for commands; empty if an entry of the list is left out, since the rest would mean
 * something else.
 */
export function goRegistries(list: string, { keep }: RegistryKeeping): readonly string[] {
  // Every second part is a separator.
  const parts = list.split(/([,|])/).map((part) => part.trim());
  const kept = parts.map((part, at) =>
    at % 2 === 1 || /^(?:direct|off)$/.test(part) ? part : plainUrl(part) && keep(part),
  );
  const hasAddress = parts.some((part) => plainUrl(part));
  return hasAddress && kept.every((part) => part !== undefined) ? [`GOPROXY=${kept.join("")}`] : [];
}

export function goSetting(text: string): string {
  return readSections(text)[0]?.values.find(([name]) => name === "GOPROXY")?.[1] ?? "";
}
