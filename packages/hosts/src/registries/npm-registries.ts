/** Registries of npm: what npmrc files say. */
import { readSections } from "./read-sections.ts";
import { plainUrl, type RegistryKeeping } from "./registry-keeping.ts";

/** Of the texts, later ones win; what commands find as their npmrc. */
export function npmRegistries(texts: readonly string[], { keep }: RegistryKeeping): readonly string[] {
  const values = texts.flatMap(readSections).flatMap((section) => section.values);
  const found = new Map(
    values.filter(([name, value]) => /^(?:@[\w.~-]+:)?registry$/.test(name) && plainUrl(value)),
  );
  return [...found].flatMap(([name, value]) => {
    const kept = keep(value, { isNamed: name.startsWith("@") });
    return kept === undefined ? [] : [`${name}=${kept}`];
  });
}
