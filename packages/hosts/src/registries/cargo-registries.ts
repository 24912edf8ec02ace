/** Registries of Cargo: sources in place of crates.io, and registries beside it; git repositories are none. */
import { readSections, type Section } from "./read-sections.ts";
import type { RegistryKeeping } from "./registry-keeping.ts";

/** What commands find as Cargo's configuration. */
export function cargoRegistries(texts: readonly string[], { keep }: RegistryKeeping): readonly string[] {
  const sparse = (value: string, isNamed: boolean): string | undefined => {
    const kept = value.startsWith("sparse+") ? keep(value.slice("sparse+".length), { isNamed }) : undefined;
    return kept === undefined ? undefined : `sparse+${kept}`;
  };
  const kept = texts.flatMap(readSections).flatMap(({ name, values }): readonly Section[] => {
    const isSource = /^source\.[\w"-]+$/.test(name);
    if (!isSource && !/^registries\.[\w"-]+$/.test(name)) return [];
    const own = values.flatMap(([key, value]): Section["values"] => {
      if (isSource && key === "replace-with") return [[key, value]];
      const address = key === (isSource ? "registry" : "index") ? sparse(value, !isSource) : undefined;
      return address === undefined ? [] : [[key, address]];
    });
    return own.length > 0 ? [{ name, values: own }] : [];
  });
  if (kept.every(({ values }) => values.every(([key]) => key === "replace-with"))) return [];
  return kept.flatMap(({ name, values }) => [
    `[${name}]`,
    ...values.map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
  ]);
}
