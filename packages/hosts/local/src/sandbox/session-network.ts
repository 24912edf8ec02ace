/** The network of a session's commands: the hosts that rules name, with the registries of the project where they say so. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { networkRules } from "@lathe/policy";
import type { Mode, NetworkDecided } from "@lathe/protocol";
import type { ScratchFolder } from "@lathe/sessions";
import type { LocalOptions } from "../local-options.ts";
import type { RegistryPlace } from "../registries/own-registries.ts";

type Sandboxes = Pick<typeof import("@lathe/sandbox"), "registryHosts">;
type NetworkOptions = import("@lathe/sandbox").NetworkOptions;
type RegistryKind = import("@lathe/sandbox").RegistryKind;

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

/** The texts with the preset replaced by the hosts it stands for in this folder. */
export async function withRegistries(
  hosts: readonly string[],
  place: RegistryPlace,
  { registryHosts }: Sandboxes,
): Promise<readonly string[]> {
  if (!hosts.includes(registryPreset)) return hosts;
  const { ownRegistryHosts } = await import("../registries/own-registry-hosts.ts");
  const unique = kindsOf(place.cwd);
  const own = ownRegistryHosts(unique, place, registryHosts);
  // Its own first: a rule that names a port reaches what one without does not.
  return [...hosts.filter((host) => host !== registryPreset), ...own, ...registryHosts(unique)];
}

interface Bringing extends RegistryPlace {
  /** Told of registries that commands are not brought to. */
  onRemark?(text: string): void;
  /** Of these package managers; of those whose files the folder has, when absent. */
  readonly kinds?: readonly RegistryKind[];
}

/** What package managers find in the home of commands: which registries the user has; before anything runs there. */
export async function bringRegistries(
  { onRemark, kinds, ...place }: Bringing,
  scratch: Pick<ScratchFolder, "path" | "isFound">,
): Promise<void> {
  // One that was there has them; commands have written in it since.
  if (scratch.isFound) return;
  const [{ ownRegistries }, { writeOwnSettings }, { leftRemark }] = await Promise.all([
    import("../registries/own-registries.ts"),
    import("../registries/write-own-settings.ts"),
    import("../registries/left-remark.ts"),
  ]);
  const settings = ownRegistries(place);
  writeOwnSettings(scratch.path, settings);
  const wanted = kinds ?? kindsOf(place.cwd);
  const remark = leftRemark(settings.left.filter(({ kind }) => wanted.includes(kind)));
  if (remark !== undefined) onRemark?.(remark);
}

function kindsOf(cwd: string): readonly RegistryKind[] {
  const found = Object.entries(files).flatMap(([name, kinds]) => (existsSync(join(cwd, name)) ? kinds : []));
  return [...new Set(found)];
}

export async function sessionNetwork(
  { rules, mode, cwd, env }: Pick<LocalOptions, "rules" | "cwd" | "env"> & { mode(): Mode },
  onDecision: (decision: Omit<NetworkDecided, "times">) => void,
  sandboxes: Sandboxes,
): Promise<NetworkOptions> {
  const { hosts, bars } = networkRules(rules, mode);
  return { hosts: await withRegistries(hosts, { cwd, env }, sandboxes), bars, onDecision };
}
