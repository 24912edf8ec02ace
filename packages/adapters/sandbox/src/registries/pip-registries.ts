/** pip's registries, from its configuration files and variables. */
import { readSections } from "./read-sections.ts";
import type { RegistryKeeping } from "./registry-keeping.ts";

const names = ["index-url", "extra-index-url", "trusted-host"] as const;

/** Later texts override earlier ones; returns the pip.conf for commands. */
export function pipRegistries(
  texts: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { keep }: RegistryKeeping,
): readonly string[] {
  const found = settings(texts, env);
  const kept = (name: string, most: number): readonly string[] =>
    (found.get(name) ?? []).slice(0, most).flatMap((one) => keep(one) ?? []);
  const said = [
    ["index-url", kept("index-url", 1)],
    ["extra-index-url", kept("extra-index-url", Number.POSITIVE_INFINITY)],
    ["trusted-host", (found.get("trusted-host") ?? []).filter((one) => /^[\w.:[\]-]+$/.test(one))],
  ] as const;
  const own = said.filter(([, values]) => values.length > 0);
  if (own.every(([name]) => name === "trusted-host")) return [];
  return ["[global]", ...own.map(([name, values]) => `${name} = ${values.join("\n    ")}`)];
}

function settings(
  texts: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const all = texts.flatMap(readSections);
  // A command's settings override those for all, in whichever file; agents' commands install.
  const sections = ["global", "install"].flatMap((wanted) => all.filter(({ name }) => name === wanted));
  for (const { values } of sections)
    for (const [name, value] of values) {
      const plain = name.replaceAll("_", "-");
      if (names.some((one) => one === plain)) found.set(plain, value.split(/\s+/));
    }
  for (const name of names) {
    const value = env[`PIP_${name.replaceAll("-", "_").toUpperCase()}`];
    if (value) found.set(name, value.split(/\s+/));
  }
  return found;
}
