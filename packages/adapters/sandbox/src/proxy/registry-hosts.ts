/** Registry hosts: hosts of package managers, to be allowed by name for those that a project really uses. */

export const registryKinds = [
  "npm",
  "yarn",
  "pypi",
  "crates",
  "rustup",
  "go",
  "maven",
  "gradle",
  "rubygems",
  "debian",
  "ubuntu",
  "alpine",
  "nuget",
  "composer",
  "hex",
] as const;

export type RegistryKind = (typeof registryKinds)[number];

/** Only hosts that an install needs; comments mark hosts that accept uploads or strangers' files. */
const hosts: Readonly<Record<RegistryKind, readonly string[]>> = {
  /**
   * The registry serves both metadata and tarballs; also used by pnpm. It accepts publishes, which need a
   * token.
   */
  npm: ["registry.npmjs.org"],
  /** Yarn's name for npm's registry, and where Corepack fetches Yarn itself. */
  yarn: ["registry.yarnpkg.com", "repo.yarnpkg.com"],
  /** The index, and the files it points to. Uploads go to another host (upload.pypi.org). */
  pypi: ["pypi.org", "files.pythonhosted.org"],
  /** The sparse index, and the files, which crates.io redirects to. */
  crates: ["index.crates.io", "static.crates.io", "crates.io"],
  /** Toolchains of rustup. */
  rustup: ["static.rust-lang.org"],
  /**
   * The module mirror and the checksum database. Not storage.googleapis.com, where anyone can store files.
   */
  go: ["proxy.golang.org", "sum.golang.org"],
  /** Maven Central under both names. */
  maven: ["repo.maven.apache.org", "repo1.maven.org"],
  /** Gradle's plugins and its own distributions. */
  gradle: [
    "plugins.gradle.org",
    "plugins-artifacts.gradle.org",
    "services.gradle.org",
    "downloads.gradle.org",
  ],
  /** Gems and their index. It accepts pushes, which need a key. */
  rubygems: ["rubygems.org", "index.rubygems.org"],
  /** Packages and security updates; plain HTTP, signed. */
  debian: ["deb.debian.org", "security.debian.org"],
  /** The same for Ubuntu, with the mirror for machines other than x86. */
  ubuntu: ["archive.ubuntu.com", "security.ubuntu.com", "ports.ubuntu.com"],
  /** Packages of Alpine. */
  alpine: ["dl-cdn.alpinelinux.org"],
  /** The index and its packages. */
  nuget: ["api.nuget.org"],
  /** Metadata; the packages themselves mostly come from GitHub, which the user must allow. */
  composer: ["repo.packagist.org", "packagist.org"],
  /** Packages of Elixir and Erlang. */
  hex: ["repo.hex.pm", "builds.hex.pm"],
};

/** The texts of host rules, for `parseHostRule`. */
export function registryHosts(kinds: readonly RegistryKind[]): readonly string[] {
  return [...new Set(kinds.flatMap((kind) => hosts[kind]))];
}
