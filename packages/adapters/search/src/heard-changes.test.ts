import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { isFailure, type RankResult } from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { rgPath } from "@vscode/ripgrep";
import { openCodeSearch } from "./code-search.ts";
import { type ExactGrep, openExactGrep } from "./exact/exact-grep.ts";
import { git, put } from "./exact-samples.ts";
import { fileFilterOf } from "./file-filter.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-heard-"));
const opened: ExactGrep[] = [];
after(() => {
  for (const one of opened) one.close();
  rmSync(folder, { recursive: true });
});

function repository(): string {
  const root = mkdtempSync(join(folder, "tree-"));
  git(root, "init", "-q");
  for (let n = 0; n < 24; n++)
    put(root, `src/${n % 4}/part${n}.ts`, `export function part${n}() {\n  return boil${n}();\n}\n`);
  put(root, ".gitignore", "*.log\n");
  put(root, "src/.env", "kettle=1\n");
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "Begin");
  return root;
}

interface Heard {
  /** What a session that hears of changes answers, and one that looks at every file each time. */
  ask(query: string): Promise<{ readonly found: RankResult; readonly expected: RankResult }>;
  /** How often the first one has begun or ended a listing of the tree. */
  listings(): number;
  settled(): Promise<unknown>;
}

function open(root: string): Heard {
  const log = `${root}.listed`;
  writeFileSync(log, "");
  const program = `${root}.rg`;
  const wait = `while [ -e '${root}.hold' ]; do sleep 0.01; done`;
  writeFileSync(program, `#!/bin/sh\necho >> '${log}'\n'${rgPath}' "$@"\necho >> '${log}'\n${wait}\n`);
  chmodSync(program, 0o755);
  const mayIndex = (path: string): boolean => !path.endsWith(".env");
  const place = { root, program: [rgPath], path: "" };
  // Also in a tree that is not worth an index of trigrams.
  const exact = openExactGrep(place, { folder: mkdtempSync(join(folder, "cache-")), mayIndex });
  opened.push(exact);
  const { followed } = exact;
  const heard = { changes: () => followed.changes(), keepUp: () => followed.keepUp() };
  const common = { mayIndex, patienceMs: 600_000 };
  const hearing = openCodeSearch({ ...place, program: [program] }, { ...common, ...heard });
  const looking = openCodeSearch(place, common);
  return {
    async ask(query) {
      const fileFilter = fileFilterOf({ root, path: "" }, { exclude: ["**/.env"], limit: 5 });
      assert.ok(!isFailure(fileFilter));
      const asked = { place, fileFilter, query: { query, k: 5, exclude: ["**/.env"] } };
      const signal = new AbortController().signal;
      const [found, expected] = [await hearing.rank(asked, signal), await looking.rank(asked, signal)];
      assert.ok(!isFailure(found) && !isFailure(expected));
      return { found, expected };
    },
    listings: () => readFileSync(log, "utf8").length,
    settled: () => followed.keepUp(),
  };
}

it("finds what changed at the next ranked search without looking at the tree", async () => {
  const root = repository();
  const { ask, listings, settled } = open(root);
  const part = join(root, "src/3/part3.ts");
  const same = async (
    what: string,
    { query, paths, isHeard }: { query: string; paths: readonly string[]; isHeard: boolean },
  ): Promise<void> => {
    const before = listings();
    const { found, expected } = await ask(query);
    assert.deepEqual(found, expected, what);
    assert.deepEqual(
      found.ranges.map(({ path }) => path),
      paths,
      what,
    );
    assert.equal(listings() === before, isHeard, `${what}: listed`);
    await settled();
    // The first look after that begins to count on what is heard.
    if (!isHeard) await ask(query);
  };
  const heard = (what: string, query: string, paths: readonly string[]) =>
    same(what, { query, paths, isHeard: true });
  const lookedAt = (what: string, query: string, paths: readonly string[]) =>
    same(what, { query, paths, isHeard: false });
  await lookedAt("as it begins", "part3", ["src/3/part3.ts"]);
  await heard("nothing", "simmer soup", []);
  appendFileSync(part, "export const simmerSoup = 1;\n");
  await heard("an edit", "simmer soup", ["src/3/part3.ts"]);
  for (const name of ["simmerStew", "simmerMash"]) {
    const { size, atime, mtime } = statSync(part);
    writeFileSync(part, readFileSync(part, "utf8").replace(/simmer\w{4}/, name));
    utimesSync(part, atime, mtime);
    assert.equal(statSync(part).size, size);
    await heard("an edit that leaves size and time", name, ["src/3/part3.ts"]);
  }
  writeFileSync(part, "one\n");
  writeFileSync(part, "two\n");
  writeFileSync(part, "export const simmerRice = 1;\n");
  await heard("edits in one moment", "simmer rice", ["src/3/part3.ts"]);
  put(root, "src/3/new.ts.tmp", "export const whistleLoudly = 1;\n");
  renameSync(join(root, "src/3/new.ts.tmp"), join(root, "src/3/new.ts"));
  await heard("a new file under another name", "whistle loudly", ["src/3/new.ts"]);
  renameSync(join(root, "src/3/new.ts"), join(root, "src/2/newer.ts"));
  await heard("one that moved", "whistle loudly", ["src/2/newer.ts"]);
  put(root, "src/3/whistle.log", "whistleLoudly\n");
  await heard("one that is ignored", "whistle loudly", ["src/2/newer.ts"]);
  rmSync(join(root, "src/2/newer.ts"));
  await heard("one that is gone", "whistle loudly", []);
  git(root, "checkout", "-q", "-f", "--", ".");
  await heard("a checkout", "simmer rice", []);
  put(root, "src/2/.env", "kettle=2\n");
  await heard("a secret", "kettle", []);
  put(root, "src/fresh/soup.ts", "export const simmerSoup = 1;\n");
  await lookedAt("a folder", "simmer soup", ["src/fresh/soup.ts"]);
  put(root, ".gitignore", "*.log\nfresh\n");
  await lookedAt("rules on ignoring", "simmer soup", []);
  put(root, "src/1/jar.ts", "export const honeyGlass = 1;\n");
  await heard("another new file", "honey glass", ["src/1/jar.ts"]);
  put(root, "src/1/.latheignore", "jar*\n");
  await lookedAt("rules of our own", "honey glass", []);
});

const paths = fc.constantFrom(
  "src/0/part0.ts",
  "src/1/part1.ts",
  "src/1/new.ts",
  "src/new/one.ts",
  "src/2/.env",
);
type Root = string;
const changes = fc.oneof(
  fc.tuple(paths, fc.nat({ max: 9 })).map(([path, n]) => (root: Root) => {
    put(root, path, `export function simmer${n}() {}\n`);
  }),
  fc.tuple(paths, fc.nat({ max: 9 })).map(([path, n]) => (root: Root) => {
    if (existsSync(join(root, path))) appendFileSync(join(root, path), `simmer${n}();\n`);
  }),
  fc.tuple(paths, paths).map(([from, to]) => (root: Root) => {
    put(root, to, "");
    if (existsSync(join(root, from))) renameSync(join(root, from), join(root, to));
  }),
  paths.map((path) => (root: Root) => rmSync(join(root, path), { force: true })),
  fc.constantFrom("new/\n", "one.ts\npart1.ts\n", "").map((rules) => (root: Root) => {
    put(root, "src/.gitignore", rules);
  }),
  fc.constant((root: Root) => {
    git(root, "checkout", "-q", "-f", "--", ".");
  }),
);

it("answers whatever changes, and whenever, as if it looked at every file", async () => {
  const step = fc.record({ changes: fc.array(changes, { maxLength: 3 }), isSettled: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 5 }), async (steps) => {
      const root = repository();
      const { ask, settled } = open(root);
      await ask("simmer1");
      for (const { changes: all, isSettled } of steps) {
        if (isSettled) await settled();
        for (const change of all) change(root);
        for (const query of ["simmer1", "simmer soup 1 2 3", "part1"]) {
          const { found, expected } = await ask(query);
          assert.deepEqual(found, expected, query);
        }
      }
    }),
    { numRuns: 3 },
  );
});

it("takes in what changes while another call looks", async () => {
  const root = repository();
  const { ask, listings } = open(root);
  await ask("part1");
  // It has not counted on what is heard yet: it lists.
  const before = listings();
  writeFileSync(`${root}.hold`, "");
  const first = ask("part1");
  // What was listed is in the pipe by then, and read in the turn after.
  while (listings() < before + 2) await turn();
  for (let turns = 0; turns < 5; turns++) await turn();
  put(root, "src/0/part0.ts", "export const simmerSoup = 1;\n");
  const later = ask("simmer soup");
  rmSync(`${root}.hold`);
  await first;
  const { found } = await later;
  assert.deepEqual(
    found.ranges.map(({ path }) => path),
    ["src/0/part0.ts"],
  );
});
