/** The network of a session's commands: the hosts that rules name, with the registries of the project where they say so. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { networkRules } from "@lathe/policy";
import type { Mode, NetworkDecided } from "@lathe/protocol";
import type { LocalOptions } from "./local-options.ts";

type Sandboxes = Pick<typeof import("@lathe/sandbox"), "registryHosts">;
type NetworkOptions = import("@lathe/sandbox").NetworkOptions;
type RegistryKind = import("@lathe/sandbox").RegistryKind;

/** As a rule's target: the registries of the package managers that the project's own files name. */
const preset = "registry";

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
export function withRegistries(
  hosts: readonly string[],
  cwd: string,
  { registryHosts }: Sandboxes,
): readonly string[] {
  if (!hosts.includes(preset)) return hosts;
  const kinds = Object.entries(files).flatMap(([name, found]) => (existsSync(join(cwd, name)) ? found : []));
  return [...hosts.filter((host) => host !== preset), ...registryHosts([...new Set(kinds)])];
}

export function sessionNetwork(
  { rules, mode, cwd }: Pick<LocalOptions, "rules" | "cwd"> & { mode(): Mode },
  onDecision: (decision: Omit<NetworkDecided, "times">) => void,
  sandboxes: Sandboxes,
): NetworkOptions {
  const { hosts, bars } = networkRules(rules, mode);
  return { hosts: withRegistries(hosts, cwd, sandboxes), bars, onDecision };
}
