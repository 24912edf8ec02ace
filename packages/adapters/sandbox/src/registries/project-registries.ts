/** Project registries: the registries of a folder's package managers, and how commands find them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type RegistryKind, registryHosts } from "../proxy/registry-hosts.ts";
import type { RegistryPlace } from "./own-registries.ts";

/** A rule target: the registries of the package managers in the project's own files. */
export const registryPreset = "registry";

const files: Readonly<Record<string, readonly RegistryKind[]>> = {
  "package.json": ["npm"],
  "yarn.lock": ["npm", "yarn"],
  "pyproject.toml": ["pypi"],
  "requirements.txt": ["pypi"],
  "setup.py": ["pypi"],
  Pipfile: ["pypi"],
  "Cargo.toml": ["crates"],
  "rust-toolchain.toml": ["rustup"],
  "go.mod": ["go"],
  "pom.xml": ["maven"],
  "build.gradle": ["gradle", "maven"],
  "build.gradle.kts": ["gradle", "maven"],
  Gemfile: ["rubygems"],
  "composer.json": ["composer"],
  "mix.exs": ["hex"],
};

/** The user's own registries for these package managers, then the public ones. */
export async function hostsOfRegistries(
  kinds: readonly RegistryKind[],
  place: RegistryPlace,
): Promise<readonly string[]> {
  const { ownRegistryHosts } = await import("./own-registry-hosts.ts");
  return [...ownRegistryHosts(kinds, place), ...registryHosts(kinds)];
}

/** Replaces the preset in the texts by its hosts in this folder. */
export async function withRegistries(
  hosts: readonly string[],
  place: RegistryPlace,
): Promise<readonly string[]> {
  if (!hosts.includes(registryPreset)) return hosts;
  const found = await hostsOfRegistries(kindsOf(place.cwd), place);
  // The user's own hosts come first: a rule with a port reaches addresses that one without does not.
  return [...hosts.filter((host) => host !== registryPreset), ...found];
}

interface Bringing extends RegistryPlace {
  /** Called with registries that commands cannot use. */
  onRemark?(text: string): void;
  /** Package managers to consider; by default those with files in the folder. */
  readonly kinds?: readonly RegistryKind[];
}

/** The folder of the commands' home; `isFound`: it existed before. */
export interface CommandHome {
  readonly path: string;
  readonly isFound: boolean;
}

/**
 * Writes registry settings for package managers into the commands' home; call it before any command runs
 * there.
 */
export async function bringRegistries(
  { onRemark, kinds, ...place }: Bringing,
  home: CommandHome,
): Promise<void> {
  // An existing home already has them, and commands have written in it since.
  if (home.isFound) return;
  const [{ ownRegistries }, { writeOwnSettings }, { leftRemark }] = await Promise.all([
    import("./own-registries.ts"),
    import("./write-own-settings.ts"),
    import("./left-remark.ts"),
  ]);
  const settings = ownRegistries(place);
  writeOwnSettings(home.path, settings);
  const wanted = kinds ?? kindsOf(place.cwd);
  const remark = leftRemark(settings.left.filter(({ kind }) => wanted.includes(kind)));
  if (remark !== undefined) onRemark?.(remark);
}

function kindsOf(cwd: string): readonly RegistryKind[] {
  const found = Object.entries(files).flatMap(([name, kinds]) => (existsSync(join(cwd, name)) ? kinds : []));
  return [...new Set(found)];
}
