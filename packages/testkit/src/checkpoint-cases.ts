/** Shared helpers of checkpoint tests: exact snapshots of folders, and git without configuration. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Type, permissions and content of every file and folder, by path, with one character per byte. */
export type ExactTree = Readonly<Record<string, string>>;

/** `isLeftOut` gets single names, e.g. `.git`. */
export function exactTree(root: string, isLeftOut: (name: string) => boolean = () => false): ExactTree {
  const found: [string, string][] = [];
  const walk = (folder: string): void => {
    const names = readdirSync(diskPath(join(root, folder)), "latin1").sort();
    for (const name of names.filter((one) => !isLeftOut(one))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const state = stateOf(diskPath(join(root, path)));
      found.push([path, state]);
      if (state.startsWith("folder")) walk(path);
    }
  };
  walk("");
  return Object.fromEntries(found);
}

function stateOf(path: string | Buffer): string {
  const stats = lstatSync(path);
  const mode = (stats.mode & 0o7777).toString(8);
  if (stats.isDirectory()) return `folder ${mode}`;
  if (stats.isSymbolicLink()) return `-> ${readlinkSync(path, "latin1")}`;
  return stats.isFile() ? `${mode} ${hash(readFileSync(path))}` : "special";
}

/** The exact tree, with modification times. */
export function datedTree(root: string): ExactTree {
  const tree = exactTree(root);
  return Object.fromEntries(
    Object.entries(tree).map(([path, state]) => [
      path,
      `${state} ${lstatSync(diskPath(join(root, path))).mtimeMs}`,
    ]),
  );
}

/** The usual places of git; these tests look nowhere else. */
const gitPath = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

export function runGitIn(folder: string, ...args: readonly string[]): string {
  const who = {
    GIT_AUTHOR_NAME: "t",
    GIT_AUTHOR_EMAIL: "t@t",
    GIT_COMMITTER_NAME: "t",
    GIT_COMMITTER_EMAIL: "t@t",
  };
  const own = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_ALLOW_PROTOCOL: "file" };
  return execFileSync("git", args, {
    cwd: folder,
    env: { PATH: gitPath, LC_ALL: "C", ...own, ...who },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function hash(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}

function diskPath(path: string): string | Buffer {
  return /[\u0080-\uffff]/.test(path) ? Buffer.from(path, "latin1") : path;
}
