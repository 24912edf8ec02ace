/**
 * Restricts who starts programs outside the sandbox: only listed modules, each with a reason, and only by
 * absolute paths.
 */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type ParseResult, parseSync, Visitor } from "oxc-parser";
import { type Spawner, spawners } from "./spawners.ts";

/** One broken rule: its name, the file (relative to the root) and what is wrong there. */
export interface SpawnViolation {
  readonly rule: SpawnRule;
  readonly file: string;
  readonly text: string;
}

export type SpawnRule = (typeof spawnRules)[number];

/**
 * `spawn`: an unlisted module starts programs. `bare-program`: a module names a program that is found through
 * PATH, which may be the workspace's. `stale-spawner`: a listed module starts no programs any more, or none
 * by bare name.
 */
export const spawnRules = ["spawn", "bare-program", "stale-spawner"] as const;

const starting = /^(?:spawn|exec|execFile|fork)(?:Sync)?$/;

/** *Contract:* every broken rule of the repository in a folder. */
export function spawnViolations(root: string): readonly SpawnViolation[] {
  const found = sourcesIn(root).map((file) => {
    const text = readFileSync(join(root, file), "utf8");
    // Parsing takes most of the time, and only few files mention it.
    return { file, ...(text.includes("child_process") ? readSource(parseSync(file, text)) : nothing) };
  });
  return [
    ...found.filter(({ isSpawner, file }) => isSpawner && !spawners[file]).map(unlisted),
    ...found.filter(({ bare, file }) => bare.length > 0 && !spawners[file]?.bare).map(bareProgram),
    ...Object.entries(spawners).flatMap(([file, spawner]) => stale(file, spawner, found)),
  ];
}

interface Source {
  /** Whether it may start programs: type-only imports do not count. */
  readonly isSpawner: boolean;
  /** The programs that it names without a folder. */
  readonly bare: readonly string[];
}

type Found = Source & { readonly file: string };

const nothing: Source = { isSpawner: false, bare: [] };

function sourcesIn(root: string): readonly string[] {
  const skipped = (path: string): boolean => ["node_modules", "fixtures", "testkit"].includes(basename(path));
  const sources = globSync("{apps,packages}/**/*.{ts,mts,mjs,js}", { cwd: root, exclude: skipped });
  return sources.map((path) => path.replaceAll("\\", "/")).filter((file) => !file.endsWith(".test.ts"));
}

function readSource({ program, module }: ParseResult): Source {
  const typesOnly = new Set(
    module.staticImports
      .filter(({ entries }) => entries.length > 0 && entries.every(({ isType }) => isType))
      .map(({ moduleRequest }) => moduleRequest.start),
  );
  let isSpawner = false;
  const bare: string[] = [];
  new Visitor({
    Literal({ value, start }) {
      if (/^(?:node:)?child_process$/.test(String(value)) && !typesOnly.has(start)) isSpawner = true;
    },
    CallExpression({ callee, arguments: [program] }) {
      // By convention, the function that `promisify` returns is called `run`.
      const isStart = callee.type === "Identifier" && (starting.test(callee.name) || callee.name === "run");
      const name = isStart && program?.type === "Literal" ? program.value : undefined;
      if (typeof name === "string" && !name.startsWith("/")) bare.push(name);
    },
  }).visit(program);
  return { isSpawner, bare: isSpawner ? bare : [] };
}

function unlisted({ file }: Found): SpawnViolation {
  const text =
    "starts programs outside the sandbox: list it in checks/spawners.ts with the reason, or use the sandbox";
  return { rule: "spawn", file, text };
}

function bareProgram({ file, bare }: Found): SpawnViolation {
  const text = `starts ${bare.join(", ")} by name: find it with findProgram of @lathe/system`;
  return { rule: "bare-program", file, text };
}

function stale(file: string, spawner: Spawner, found: readonly Found[]): readonly SpawnViolation[] {
  const source = found.find((one) => one.file === file);
  if (!source?.isSpawner) return [{ rule: "stale-spawner", file, text: "is listed and starts no program" }];
  if (spawner.bare && source.bare.length === 0)
    return [{ rule: "stale-spawner", file, text: "is listed as bare and names no program" }];
  return [];
}
