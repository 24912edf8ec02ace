/** Project registries: the registries that the package managers of a folder use, and how commands find them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type RegistryKind, registryHosts } from "../proxy/registry-hosts.ts";
import type { RegistryPlace } from "./own-registries.ts";

/** As a rule's target: the registries of the package managers that the project's own files name. */
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

/** The user's own registries of these package managers, then the public ones. */
export async function hostsOfRegistries(
  kinds: readonly RegistryKind[],
  place: RegistryPlace,
): Promise<readonly string[]> {
  const { ownRegistryHosts } = await import("./own-registry-hosts.ts");
  return [...ownRegistryHosts(kinds, place), ...registryHosts(kinds)];
}

/** The texts with the preset replaced by the hosts it stands for in this folder. */
export async function withRegistries(
  hosts: readonly string[],
  place: RegistryPlace,
): Promise<readonly string[]> {
  if (!hosts.includes(registryPreset)) return hosts;
  const found = await hostsOfRegistries(kindsOf(place.cwd), place);
  // Its own first: a rule that names a port reaches what one without does not.
  return [...hosts.filter((host) => host !== registryPreset), ...found];
}

interface Bringing extends RegistryPlace {
  /** Told of registries that commands are not brought to. */
  onRemark?(text: string): void;
  /** Of these package managers; of those whose files the folder has, when absent. */
  readonly kinds?: readonly RegistryKind[];
}

/** The folder where commands have their home; `isFound`: it was there before. */
export interface CommandHome {
  readonly path: string;
  readonly isFound: boolean;
}

/** What package managers find in the home of commands: which registries the user has; before anything runs there. */
export async function bringRegistries(
  { onRemark, kinds, ...place }: Bringing,
  home: CommandHome,
): Promise<void> {
  // One that was there has them; commands have written in it since.
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
