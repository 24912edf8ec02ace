/** MCP place: where a server works that is about to start, and whether it is still what the person trusted. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import type { ServerSpec } from "@lathe/mcp";
import { type Failure, failure } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { stateFolder } from "../places/state-folder.ts";
import { liesIn } from "../rules/kept-rules.ts";

export interface StartingServer {
  readonly name: string;
  readonly spec: ServerSpec;
  /** The server's own part of the state folder; made if it is to work there. */
  readonly folder: string;
}

/** *Contract:* for each start anew: a project's files may have changed since the last one. */
export function placeOfServer(
  { name, spec, folder }: StartingServer,
  { cwd, env }: Pick<LocalOptions, "cwd" | "env">,
): string | Failure {
  if (spec.trusted !== undefined) {
    if (digestOf(namedFiles(cwd, spec)) !== spec.trusted) return changedFailure(name);
    return "url" in spec ? cwd : resolve(cwd, spec.cwd ?? ".");
  }
  if ("url" in spec) return cwd;
  return spec.cwd === undefined ? ownFolder(folder, { cwd, env }) : resolve(cwd, spec.cwd);
}

function changedFailure(name: string): Failure {
  const what = `the MCP server ${name} is not started: files of this project that it runs are not as they were trusted`;
  return failure("no-access", `${what}; \`lathe mcp trust\` shows and allows them to new sessions`, {
    who: "user",
  });
}

/**
 * Programs look up other programs, libraries and settings where they start (npx prefers the `node_modules` there and
 * above), so the user's own start where nobody else puts any. An empty `node_modules` ends npm's search upwards.
 */
function ownFolder(folder: string, { cwd, env }: Pick<LocalOptions, "cwd" | "env">): string {
  if (liesIn(stateFolder(env), cwd)) return sep;
  try {
    mkdirSync(join(folder, "node_modules"), { recursive: true, mode: 0o700 });
    return folder;
  } catch {
    return sep;
  }
}

export interface NamedFile {
  /** From the workspace. */
  readonly path: string;
  readonly digest: string;
}

/** Names of programs that run what stands in a file they do not name. */
const impliedFiles: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ["npm", "npx", "pnpm", "yarn", "bun", "bunx", "node"].map((name) => [name, ["package.json"]]),
  ),
  make: ["Makefile", "makefile", "GNUmakefile"],
  just: ["justfile"],
  docker: ["Dockerfile", "compose.yaml", "docker-compose.yml"],
};

/** The files of the workspace that any word of it may name, folders by what is run in them; sorted. */
export function namedFiles(cwd: string, spec: ServerSpec): readonly NamedFile[] {
  if ("url" in spec) return [];
  const texts = [spec.command, ...(spec.args ?? []), ...Object.values(spec.env ?? {})];
  const bases = new Set([cwd, resolve(cwd, spec.cwd ?? ".")]);
  const words = texts.flatMap((text) => [text, ...text.split(/[\s"'`;|&<>()=:,]+/u)]);
  const names = new Set(words.filter((word) => word !== "" && word.length < 1_000).flatMap(filesOf));
  const found = new Map<string, string>();
  for (const base of bases) {
    for (const name of names) {
      const path = resolve(base, name);
      if (!liesIn(path, cwd) && !path.startsWith(cwd + sep)) continue;
      const digest = digestOfFile(path);
      if (digest !== undefined) found.set(relative(cwd, path), digest);
    }
  }
  return [...found].map(([path, digest]) => ({ path, digest })).sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** What node, python and package managers take a word for. */
function filesOf(word: string): readonly string[] {
  const modules = [`node_modules/.bin/${word}`, `node_modules/${word}/package.json`];
  const inFolder = ["package.json", "index.js", "__main__.py"].map((name) => join(word, name));
  const asModule = [
    `${word}.js`,
    `${word.replaceAll(".", "/")}.py`,
    `${word.replaceAll(".", "/")}/__main__.py`,
  ];
  return [
    word,
    ...inFolder,
    ...asModule,
    ...modules,
    ...(Object.hasOwn(impliedFiles, word) ? (impliedFiles[word] ?? []) : []),
  ];
}

/** Undefined where there is no such file; what cannot be read is the same as little as what has changed. */
function digestOfFile(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    if (!statSync(real).isFile()) return undefined;
    return createHash("sha256").update(readFileSync(real)).digest("hex");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const isThere = code !== "ENOENT" && code !== "ENOTDIR" && code !== "ENAMETOOLONG";
    return isThere ? `unreadable (${code})` : undefined;
  }
}

export function digestOf(files: readonly NamedFile[]): string {
  return createHash("sha256").update(JSON.stringify(files)).digest("hex");
}
