/** Pairs of file versions from packages of public registries, fetched with the registries' own tools. */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FilePair } from "./edit-case.ts";
import { languageOf } from "./language.ts";

export type Registry = "npm" | "pip" | "go" | "cargo" | "maven";

export const registries: readonly Registry[] = ["npm", "pip", "go", "cargo", "maven"];

/** A package and some of its versions, oldest first. */
export interface PackageVersions {
  readonly registry: Registry;
  readonly name: string;
  readonly versions: readonly string[];
}

export interface Fetched {
  readonly pairs: readonly FilePair[];
  /** Why versions are missing, one line each. */
  readonly skipped: readonly string[];
}

const timeout = 120_000;
const maxBytes = 300_000;
const maxFilesOfPackage = 60;

/** Fetches packages missing from the cache folder, and pairs each version's files with the next version's. */
export function packagePairs(wanted: readonly PackageVersions[], cache: string): Fetched {
  const pairs: FilePair[] = [];
  const skipped: string[] = [];
  for (const one of wanted) {
    const folders = one.versions.map((version) => fetched(one, version, cache));
    const missing = one.versions.filter((_, index) => folders[index] === undefined);
    if (missing.length > 0)
      skipped.push(`${one.registry}: ${one.name} ${missing.join(", ")} could not be fetched`);
    const present = folders.filter((folder) => folder !== undefined);
    for (const [index, folder] of present.entries()) {
      const next = present[index + 1];
      if (next !== undefined) pairs.push(...folderPairs(folder, next, `${one.registry}:${one.name}`));
    }
  }
  return { pairs, skipped };
}

function folderPairs(older: string, newer: string, source: string): FilePair[] {
  const files = globSync("**/*", { cwd: older })
    .sort()
    .filter((path) => languageOf(path) !== undefined);
  const pairs: FilePair[] = [];
  for (const path of files) {
    const [before, after] = [readText(join(older, path)), readText(join(newer, path))];
    if (before === undefined || after === undefined || before === after) continue;
    if (/\.min\.|(^|\/)(dist|umd|cjs|esm5?|bundles)\//.test(path)) continue;
    pairs.push({ path: path.replaceAll("\\", "/"), before, after, source });
    if (pairs.length >= maxFilesOfPackage) break;
  }
  return pairs;
}

/** Undefined unless it is a text file of moderate size. */
function readText(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || stat.size > maxBytes) return undefined;
  const text = readFileSync(path, "utf8");
  return text.includes("\0") || text.includes("\uFFFD") ? undefined : text;
}

/** The folder with the version's files; undefined if the tool or the network fails. */
function fetched(one: PackageVersions, version: string, cache: string): string | undefined {
  const folder = join(cache, one.registry, `${one.name.replace(/[^\w.-]+/g, "_")}-${version}`);
  const done = join(folder, ".fetched");
  if (existsSync(done)) return join(folder, "files", readFileSync(done, "utf8"));
  mkdirSync(join(folder, "files"), { recursive: true });
  const inner = fetchers[one.registry](folder, one.name, version);
  if (inner === undefined) return undefined;
  writeFileSync(done, inner);
  return join(folder, "files", inner);
}

function succeeds(folder: string, command: string, args: readonly string[]): boolean {
  return output(folder, command, args) !== undefined;
}

/** The command's output; undefined if it failed or is missing. */
function output(folder: string, command: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(command, args, {
    cwd: folder,
    timeout,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 ? stdout : undefined;
}

/** Fetches and unpacks into `files`; returns the path inside it, or undefined. */
type Fetch = (folder: string, name: string, version: string) => string | undefined;

const fetchers: Readonly<Record<Registry, Fetch>> = {
  npm: (folder, name, version) => {
    if (!succeeds(folder, "npm", ["pack", `${name}@${version}`, "--silent"])) return undefined;
    const [archive] = globSync("*.tgz", { cwd: folder });
    return archive && succeeds(folder, "tar", ["-xzf", archive, "-C", "files"])
      ? firstFolder(folder)
      : undefined;
  },
  pip: (folder, name, version) => {
    const args = ["download", "--no-deps", "--only-binary=:all:", "-q", "-d", ".", `${name}==${version}`];
    return succeeds(folder, "pip", args) ? unzipped(folder, "*.whl") : undefined;
  },
  go: (folder, name, version) => {
    const said = output(folder, "go", ["mod", "download", "-json", `${name}@${version}`]);
    const copied = said !== undefined && succeeds(folder, "cp", ["-R", `${JSON.parse(said).Dir}/.`, "files"]);
    return copied && succeeds(folder, "chmod", ["-R", "u+w", "files"]) ? "" : undefined;
  },
  cargo: (folder, name, version) => {
    mkdirSync(join(folder, "src"), { recursive: true });
    writeFileSync(join(folder, "src/lib.rs"), "");
    const manifest = `[package]\nname = "fetching"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n`;
    writeFileSync(join(folder, "Cargo.toml"), `${manifest}${name} = "=${version}"\n[workspace]\n`);
    return succeeds(folder, "cargo", ["vendor", "files"]) && existsSync(join(folder, "files", name))
      ? name
      : undefined;
  },
  maven: (folder, name, version) => {
    const artifact = `-Dartifact=${name}:${version}:jar:sources`;
    const args = ["-q", "-B", "dependency:copy", artifact, `-DoutputDirectory=${folder}`];
    return succeeds(folder, "mvn", args) ? unzipped(folder, "*-sources.jar") : undefined;
  },
};

function unzipped(folder: string, pattern: string): string | undefined {
  const [archive] = globSync(pattern, { cwd: folder });
  return archive && succeeds(folder, "unzip", ["-q", "-o", archive, "-d", "files"]) ? "" : undefined;
}

function firstFolder(folder: string): string | undefined {
  return readdirSync(join(folder, "files"))[0];
}
