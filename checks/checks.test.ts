/** Shows that every check fails if its rule is broken, and passes otherwise. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { clean, type Files, type Run, removeFixture, runIn, writeFixture } from "./fixture.ts";

const commands = {
  biome: ["biome", "ci", "--error-on-warnings", "--max-diagnostics=none", "--colors=off", "."],
  types: ["tsc", "--noEmit", "--pretty", "false"],
  pure: ["tsc", "--noEmit", "--pretty", "false", "-p", "tsconfig.pure.json"],
  layers: ["node", "--test", "--test-reporter=spec", "checks/layers.test.ts"],
  spawns: ["node", "--test", "--test-reporter=spec", "checks/spawns.test.ts"],
  knip: ["knip", "--no-config-hints"],
} as const;

/** A broken rule: the name that must be reported, the file to plant it in, and the text. */
type Row = readonly [rule: string, file: string, text: string];

const long = (lines: number, line: string): string => `${line}\n`.repeat(lines);
const branches = long(16, "  for (const x of xs) if (x > 1) n += x;");

const biomeRows: readonly Row[] = [
  ["format", "packages/adapters/stores/src/unformatted.ts", "export const  a: number = 1\n"],
  ["noUnusedImports", "packages/adapters/stores/src/a1.ts", 'import { protocol } from "@lathe/protocol";\n'],
  ["noUndeclaredDependencies", "packages/adapters/stores/src/a2.ts", 'import "valibot";\n'],
  ["noUndeclaredDependencies", "packages/adapters/stores/src/a3.ts", 'import "@lathe/testkit";\n'],
  [
    "noImportCycles",
    "packages/adapters/stores/src/b1.ts",
    'import type { B2 } from "./b2.ts";\n\nexport type B1 = B2[];\n',
  ],
  [
    "noImportCycles",
    "packages/adapters/stores/src/b2.ts",
    'import type { B1 } from "./b1.ts";\n\nexport type B2 = B1[];\n',
  ],
  [
    "noFloatingPromises",
    "packages/adapters/stores/src/c1.ts",
    "async function later(): Promise<void> {}\n\nexport function now(): void {\n  later();\n}\n",
  ],
  [
    "noMisusedPromises",
    "packages/adapters/stores/src/c2.ts",
    "async function later(): Promise<boolean> {\n  return true;\n}\n\nexport function now(): number {\n  if (later()) return 1;\n  return 0;\n}\n",
  ],
  [
    "useExhaustiveSwitchCases",
    "packages/adapters/stores/src/c3.ts",
    'export function two(x: "a" | "b"): number {\n  switch (x) {\n    case "a":\n      return 1;\n  }\n  return 2;\n}\n',
  ],
  [
    "noExcessiveCognitiveComplexity",
    "packages/adapters/stores/src/d1.ts",
    `export function sum(xs: readonly number[]): number {\n  let n = 0;\n${branches}  return n;\n}\n`,
  ],
  [
    "noExcessiveLinesPerFunction",
    "packages/adapters/stores/src/d2.ts",
    `export function sum(): number {\n  let n = 0;\n${long(80, "  n += 1;")}  return n;\n}\n`,
  ],
  ["noExcessiveLinesPerFile", "packages/adapters/stores/src/d3.ts", `${long(401, "console.log(1);")}`],
  [
    "useMaxParams",
    "packages/adapters/stores/src/d4.ts",
    "export function four(a: number, b: number, c: number, d: number): number {\n  return a + b + c + d;\n}\n",
  ],
  ["noDefaultExport", "packages/adapters/stores/src/e1.ts", "export default 1;\n"],
  ["noBarrelFile", "packages/adapters/stores/src/e2.ts", 'export { protocol } from "@lathe/protocol";\n'],
  ["noReExportAll", "packages/adapters/stores/src/e3.ts", 'export * from "@lathe/protocol";\n'],
  [
    "noProcessEnv",
    "packages/adapters/stores/src/f1.ts",
    "export const home: string | undefined = process.env.HOME;\n",
  ],
  ["noEnum", "packages/adapters/stores/src/f2.ts", "export enum E {\n  A = 1,\n}\n"],
  [
    "noParameterProperties",
    "packages/adapters/stores/src/f3.ts",
    "export class P {\n  constructor(readonly a: number) {}\n}\n",
  ],
  [
    "useErrorCause",
    "packages/adapters/stores/src/f4.ts",
    'export function f(): void {\n  try {\n    JSON.parse("");\n  } catch {\n    throw new Error("no");\n  }\n}\n',
  ],
  ["useFilenamingConvention", "packages/adapters/stores/src/notKebab.ts", "export const a: number = 1;\n"],
  [
    "useImportType",
    "packages/adapters/stores/src/f5.ts",
    'import { B1 } from "./b1.ts";\n\nexport const b: B1 | undefined = undefined;\n',
  ],
  [
    "useNodejsImportProtocol",
    "packages/adapters/stores/src/f6.ts",
    'import fs from "fs";\n\nfs.readdirSync(".");\n',
  ],
  ["noNodejsModules", "packages/core/edits/src/g1.ts", 'import "node:fs";\n'],
  ["noRestrictedGlobals", "packages/core/edits/src/g2.ts", "export const now: number = performance.now();\n"],
];

const typesRows: readonly Row[] = [
  ["TS7006", "packages/adapters/stores/src/strict.ts", "export function f(a): void {}\n"],
  [
    "TS2322",
    "packages/adapters/stores/src/unchecked-index.ts",
    "export const f = (a: readonly number[]): number => a[0];\n",
  ],
  [
    "TS2375",
    "packages/adapters/stores/src/exact-optional.ts",
    "export const f: { a?: number } = { a: undefined };\n",
  ],
  [
    "TS7030",
    "packages/adapters/stores/src/implicit-return.ts",
    "export function f(a: number): number | undefined {\n  if (a > 1) return 1;\n}\n",
  ],
  [
    "TS1484",
    "packages/adapters/stores/src/verbatim.ts",
    'import { PathLike } from "node:fs";\n\nexport type S = PathLike;\n',
  ],
  ["TS9010", "packages/adapters/stores/src/isolated.ts", "export const f = [1].length;\n"],
  ["TS1294", "packages/adapters/stores/src/erasable.ts", "export enum E {\n  A = 1,\n}\n"],
  [
    "TS4114",
    "packages/adapters/stores/src/override.ts",
    "class A {\n  a(): void {}\n}\n\nexport class B extends A {\n  a(): void {}\n}\n",
  ],
  ["TS2835", "packages/adapters/stores/src/extension.ts", 'import "./stores";\n'],
];

const pureRows: readonly Row[] = [
  [
    "TS2591",
    "packages/core/edits/src/node-module.ts",
    'import "node:fs";\n\nexport const a: string = process.title;\n',
  ],
  ["TS2304", "packages/core/edits/src/timer.ts", "export const a: unknown = setTimeout;\n"],
  ["TS2584", "packages/core/edits/src/dom.ts", "export const a: unknown = document;\n"],
];

const ambient = (code: string): string => `export const a: unknown = ${code};\n`;
const layersRows: readonly Row[] = [
  ["manifest", "packages/bare/package.json", '{ "name": "@lathe/bare", "version": "0.1.0" }\n'],
  ["manifest", "packages/ahead/package.json", '{ "name": "@lathe/ahead", "version": "0.2.0", "layer": 2 }\n'],
  [
    "manifest",
    "packages/range/package.json",
    '{ "name": "@lathe/range", "version": "0.1.0", "layer": 2, "dependencies": { "valibot": "^1.5.0" } }\n',
  ],
  [
    "layer",
    "packages/core/edits/package.json",
    '{ "name": "@lathe/edits", "layer": 2, "dependencies": { "@lathe/stores": "0.1.0" } }\n',
  ],
  [
    "layer",
    "packages/core/protocol/package.json",
    '{ "name": "@lathe/protocol", "layer": 1, "devDependencies": { "@lathe/edits": "0.1.0" } }\n',
  ],
  ["layer", "packages/adapters/stores/src/sideways.ts", 'import "@lathe/edits";\n'],
  ["layer", "packages/adapters/stores/src/upwards.ts", 'await import("@lathe/tools");\n'],
  ["layer", "packages/adapters/stores/src/types.ts", 'export type T = import("@lathe/tools").T;\n'],
  ["layer", "packages/adapters/stores/src/deep.test.ts", 'export { a } from "@lathe/edits/src/edits.ts";\n'],
  [
    "testkit",
    "packages/sessions/tools/package.json",
    '{ "name": "@lathe/tools", "layer": 3, "dependencies": { "@lathe/testkit": "0.1.0" } }\n',
  ],
  ["testkit", "packages/adapters/stores/src/not-a-test.ts", 'import "@lathe/testkit";\n'],
  [
    "relative-leaves-package",
    "packages/adapters/stores/src/leaves.ts",
    'import "../../edits/src/edits.ts";\n',
  ],
  ["own-index", "packages/adapters/stores/src/own-relative.ts", 'import { stores } from "../index.ts";\n'],
  ["own-index", "packages/adapters/stores/src/own-name.ts", 'import { stores } from "@lathe/stores";\n'],
  ["pure-node", "packages/core/edits/src/disk.ts", 'import { readFileSync } from "node:fs";\n'],
  ["pure-ambient", "packages/core/edits/src/date-now.ts", ambient("Date.now()")],
  ["pure-ambient", "packages/core/edits/src/new-date.ts", ambient("new Date()")],
  ["pure-ambient", "packages/core/edits/src/date-call.ts", ambient("Date()")],
  ["pure-ambient", "packages/core/edits/src/random.ts", ambient("Math.random()")],
  ["pure-ambient", "packages/core/edits/src/performance.ts", ambient("performance.now()")],
  ["pure-ambient", "packages/core/edits/src/uuid.ts", ambient("globalThis.crypto.randomUUID()")],
  ["index-place", "packages/adapters/stores/src/index.ts", "export {};\n"],
  ["folder-name", "packages/adapters/stores/src/utils/a.ts", "export {};\n"],
  ["file-size", "packages/adapters/stores/src/long.ts", long(401, "//")],
  [
    "dodged-cap",
    "packages/adapters/stores/src/tuple.ts",
    "export const f = (...[a]: [number]): number => a;\n",
  ],
  [
    "dodged-cap",
    "packages/adapters/stores/src/tuple-type.ts",
    "export type F = (...all: [number]) => void;\n",
  ],
  ["dodged-cap", "packages/adapters/stores/src/spread.ts", "export const a: object = { ...{ b: 1 } };\n"],
];

const manyPaths = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`./${at}`, `./src/${at}.ts`]));
const shapeRows: readonly Row[] = [
  ["folder-cycle", "packages/adapters/stores", "has a circle: src/one, src/two"],
  ["folder-cycle", "packages/sessions/tools", "has a circle: src/tools.ts, src/types"],
  ["export-paths", "packages/core/edits/package.json", "has 9 export paths, more than 8"],
  ["export-paths", "packages/testkit/package.json", "has 9 export paths, more than 8"],
  ["tool-name", "packages/adapters/stores/src/names.ts", "line 1: names the tool find_it"],
  ["tool-name", "packages/adapters/stores/src/compares.ts", "line 2: names the tool find"],
  ["stale-exception", "packages/adapters/stores", "is listed with 3 for folder-cycle: lower it to 2"],
  ["stale-exception", "packages/core/protocol", "is listed with 2 for dodged-cap: remove it"],
];
const shapeFiles: Files = {
  "packages/adapters/stores/src/one/a.ts": 'export type { B } from "../two/b.ts";\n',
  "packages/adapters/stores/src/one/c.ts": "export type C = string;\n",
  "packages/adapters/stores/src/two/b.ts": 'import type { C } from "../one/c.ts";\n\nexport type B = C;\n',
  "packages/sessions/tools/src/tools.ts": 'export type { A } from "./types/a.ts";\n',
  "packages/sessions/tools/src/types/a.ts": "export type A = string;\n",
  "packages/sessions/tools/src/find.ts":
    'export const find: unknown[] = [{ name: "find" }, { name: "find_it" }];\n',
  "packages/adapters/stores/src/names.ts": 'export const names: readonly string[] = ["find", "find_it"];\n',
  "packages/adapters/stores/src/compares.ts":
    'export function isFind({ tool }: { tool: string }): boolean {\n  return tool === "find";\n}\n',
  "packages/sessions/tools/src/types/b.ts": 'export type B = import("../tools.ts").A;\n',
  "packages/core/edits/package.json": JSON.stringify({ name: "@lathe/edits", layer: 2, exports: manyPaths }),
  "packages/testkit/package.json":
    '{ "name": "@lathe/testkit", "layer": 2, "exports": { "./*": "./many/*.ts" } }',
  ...Object.fromEntries(
    Array.from({ length: 9 }, (_, at) => [`packages/testkit/many/${at}.ts`, "export {};\n"]),
  ),
};
const listedCounts = (counts: object): Files => ({
  "checks/exceptions.ts": `export const exceptions = ${JSON.stringify({ "folder-cycle": {}, "export-paths": {}, "dodged-cap": {}, "tool-name": {}, ...counts })};\n`,
});

const listed = (file: string): string =>
  `export interface Spawner {\n  readonly why: string;\n  readonly bare?: true;\n}\n\nexport const spawners: Readonly<Record<string, Spawner>> = {\n  "${file}": { why: "a test" },\n};\n`;
const starts = (program: string): string =>
  `import { spawn } from "node:child_process";\n\nexport const a: unknown = spawn(${program});\n`;
const spawnsRows: readonly Row[] = [
  ["spawn", "packages/adapters/stores/src/starts.ts", starts('"/bin/true"')],
  [
    "spawn",
    "packages/adapters/stores/src/loads.ts",
    'export const a: unknown = await import("node:child_process");\n',
  ],
  ["spawn", "apps/cli/bin/starts.mjs", 'import { fork } from "child_process";\n\nfork("a");\n'],
  ["bare-program", "packages/adapters/stores/src/bare.ts", starts('"git"')],
  ["stale-spawner", "checks/spawners.ts", listed("packages/adapters/stores/src/stores.ts")],
];

const knipRows: readonly Row[] = [
  ["Unused files", "packages/adapters/stores/src/orphan.ts", "export const orphan: number = 1;\n"],
  [
    "Unused exports",
    "packages/adapters/stores/src/stores.ts",
    'export { protocol as stores } from "@lathe/protocol";\nexport const lonely: number = 1;\n',
  ],
  ["Unused dependencies", "packages/core/edits/src/edits.ts", 'export const edits: string = "";\n'],
  [
    "Unlisted dependencies",
    "packages/sessions/tools/src/tools.ts",
    'import "valibot";\nexport { edits as tools } from "@lathe/edits";\n',
  ],
];

const fixtures: string[] = [];
after(() => fixtures.forEach(removeFixture));

function runOn(files: Files, check: keyof typeof commands): Run {
  const folder = writeFixture({ ...clean, ...files });
  fixtures.push(folder);
  return runIn(folder, commands[check]);
}

/** Plants all rows, runs the check once, and looks for each row's rule and file in the output. */
function shows(
  check: keyof typeof commands,
  rows: readonly Row[],
  isReported: (run: Run, row: Row) => boolean,
): void {
  describe(`${check} fails on`, () => {
    const run = runOn(Object.fromEntries(rows.map(([, file, text]) => [file, text])), check);
    it("any broken rule", () => assert.notEqual(run.status, 0, run.output));
    for (const row of rows) {
      it(`${row[0]} (${row[1]})`, () => assert.ok(isReported(run, row), run.output));
    }
  });
}

describe("the clean fixture passes", () => {
  for (const check of Object.keys(commands) as (keyof typeof commands)[]) {
    it(check, () => {
      const run = runOn({}, check);
      assert.equal(run.status, 0, run.output);
    });
  }
});

shows("biome", biomeRows, ({ output }, [rule, file]) =>
  output.split("\n").some((line) => line.startsWith(file) && new RegExp(`[/ ]${rule}\\b`).test(line)),
);
shows("types", typesRows, ({ output }, [rule, file]) =>
  output.split("\n").some((line) => line.startsWith(`${file}(`) && line.includes(`error ${rule}:`)),
);
shows("pure", pureRows, ({ output }, [rule, file]) =>
  output.split("\n").some((line) => line.startsWith(`${file}(`) && line.includes(`error ${rule}:`)),
);
shows("layers", layersRows, ({ output }, [rule, file]) => output.includes(`${rule}: ${file} `));
describe("layers fails on a package's shape", () => {
  const run = runOn(shapeFiles, "layers");
  const better = listedCounts({
    "folder-cycle": { "packages/adapters/stores": 3, "packages/sessions/tools": 2 },
    "dodged-cap": { "packages/core/protocol": 2 },
  });
  const stale = runOn({ ...shapeFiles, ...better }, "layers");
  for (const [rule, file, text] of shapeRows) {
    const { output } = rule === "stale-exception" ? stale : run;
    it(`${rule} (${file})`, () => assert.ok(output.includes(`${rule}: ${file} ${text}`), output));
  }
  it("accepts a listed exception with its exact number", () =>
    assert.ok(!stale.output.includes("folder-cycle: packages/sessions/tools "), stale.output));
});
shows("spawns", spawnsRows, ({ output }, [rule, file]) =>
  output.includes(rule === "stale-spawner" ? `${rule}: ` : `${rule}: ${file} `),
);
shows(
  "knip",
  knipRows,
  ({ output }, [rule, file]) => output.includes(rule) && output.includes(file.split("/")[1] ?? ""),
);
