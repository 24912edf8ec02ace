import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { git, type Opened, openSample, put, sampleRepository } from "../exact-samples.ts";
import type { ExactGrep } from "./exact-grep.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-nested-"));
const opened: ExactGrep[] = [];
after(() => {
  for (const one of opened) one.close();
  rmSync(folder, { recursive: true });
});

async function open(root: string, cache: string = mkdtempSync(join(folder, "cache-"))): Promise<Opened> {
  const one = await openSample(root, cache);
  opened.push(one.exact);
  return one;
}

/** A repository that another one has as a submodule, as `git submodule add` leaves it. */
function addSubmodule(root: string, path: string): void {
  const origin = mkdtempSync(join(folder, "origin-"));
  git(origin, "init", "-q");
  for (let n = 0; n < 6; n++) put(origin, `lib/part-${n}.ts`, `const steam${n} = kettleOfLib(${n});\n`);
  git(origin, "add", "-A");
  git(origin, "commit", "-q", "-m", "Begin");
  git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin, path);
}

it("searches submodules and repositories within by the index, each by its own rules", async () => {
  const root = sampleRepository(folder);
  addSubmodule(root, "vendor/steam");
  git(root, "init", "-q", "src/4");
  for (let n = 0; n < 60; n++) put(root, `fill/${n}.txt`, `${n}\n`);
  const pattern = "part 4\\b|kettleOfLib\\([1-3]\\)";
  const { compare, exact } = await open(root);
  const same = async (what: string): Promise<number> => {
    const now = await compare({ pattern });
    assert.deepEqual(now.found, now.expected, what);
    await exact.settled();
    for (const path of ["", "vendor", "vendor/steam/lib", "src/4"]) {
      const { found, expected, usedIndex } = await compare({ pattern, path });
      assert.deepEqual([found, usedIndex], [expected, true], `${what}, settled, ${path}`);
    }
    return typeof now.found === "object" ? now.found.lines.length : 0;
  };
  const all = await same("as it begins");
  appendFileSync(join(root, "vendor/steam/lib/part-3.ts"), "kettleOfLib(2)\n");
  assert.equal(await same("an edit in a submodule"), all + 1);
  put(root, "vendor/steam/lib/new.ts", "kettleOfLib(1)\n");
  assert.equal(await same("a new file in a submodule"), all + 2);
  const modules = join(root, ".git/modules/vendor/steam");
  writeFileSync(join(modules, "info/exclude"), "lib/new.ts\n");
  await same("rules of a submodule");
  put(root, "vendor/steam/.gitignore", "new.ts\n");
  assert.equal(await same("rules in a submodule"), all + 1);
  put(root, ".gitignore", "*.log\nout/\npart-4.ts\npart-3.ts\n");
  assert.equal(await same("rules of the repository, which end where another one begins"), all + 1);
  put(root, "src/4/.git/info/exclude", "part-4.ts\n");
  assert.equal(await same("rules of a repository within"), all);
  rmSync(join(root, "src/4/.git"), { recursive: true });
  assert.equal(await same("it is none any more, and the rules above hold"), all);
  git(root, "init", "-q", "src/4");
  assert.equal(await same("it is one again"), all + 1);
  rmSync(join(root, "vendor"), { recursive: true });
  await compare({ pattern });
  await exact.settled();
  const gone = await compare({ pattern });
  assert.deepEqual([gone.found, gone.usedIndex], [gone.expected, true]);
});

it("takes what is known of a submodule's files from its own index, in another worktree", async () => {
  const root = sampleRepository(folder);
  addSubmodule(root, "vendor/steam");
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "Begin");
  const { cache } = await open(root);
  const tree = `${root}-tree`;
  git(root, "worktree", "add", "-q", tree);
  git(tree, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init");
  for (const place of [tree, join(tree, "vendor/steam")]) {
    // As git makes them they are all just changed; a person comes later.
    for (const path of git(place, "ls-files", "-z").split("\0").slice(0, -1))
      utimesSync(join(place, path), 1_700_000_000, 1_700_000_000);
    git(place, "update-index", "-q", "--refresh");
  }
  const segments = () =>
    readdirSync(cache, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".trigrams"));
  const before = segments();
  // What is not known would be searched as it is, and be too much.
  const { compare } = await open(tree, cache);
  const { found, expected, usedIndex } = await compare({ pattern: "kettleOfLib\\(3" });
  assert.deepEqual([found, usedIndex, segments()], [expected, true, before]);
});

const places = ["", "lib", "lib/inner", "src/2", "vendor/deep/er"] as const;
const rules = fc.constantFrom(
  "*.log\n",
  "part-1*.ts\n",
  "/inner\n",
  "lib/\n!lib/inner/\n",
  "inner/part-2.ts\n/src/2/*\n!/src/2/part-2.ts\n",
  "deep/er/part-*\n!part-14.ts\n",
  "*\n!*/\n!*.ts\n",
);
type Root = string;
const changes = fc.oneof(
  fc.tuple(fc.constantFrom(...places), rules, fc.constantFrom(".gitignore", ".ignore", ".latheignore")).map(
    ([place, text, name]) =>
      (root: Root) =>
        put(root, join(place, name), text),
  ),
  fc.tuple(fc.constantFrom(...places), rules).map(([place, text]) => (root: Root) => {
    if (existsSync(join(root, place, ".git/info"))) put(root, join(place, ".git/info/exclude"), text);
  }),
  fc.constantFrom(...places.slice(1)).map((place) => (root: Root) => {
    git(root, "init", "-q", place);
  }),
  fc.constantFrom(...places.slice(1)).map((place) => (root: Root) => {
    // As a submodule has it, with its files elsewhere.
    const own = join(root, ".git/modules", place.replaceAll("/", "-"));
    rmSync(join(root, place, ".git"), { recursive: true, force: true });
    mkdirSync(dirname(own), { recursive: true });
    git(root, "init", "-q", "--separate-git-dir", own, place);
    put(own, "info/exclude", "part-1.ts\n");
  }),
  fc.constantFrom(...places.slice(1)).map((place) => (root: Root) => {
    rmSync(join(root, place, ".git"), { recursive: true, force: true });
  }),
  fc.tuple(fc.constantFrom(...places), fc.nat({ max: 20 })).map(([place, n]) => (root: Root) => {
    writeFileSync(join(root, place, `part-${n}.ts`), `simmer${n}\n`);
  }),
);

it("gives ripgrep's very result whatever repositories and rules there are, and come and go", async () => {
  let [asked, used] = [0, 0];
  const tree = fc.array(changes, { minLength: 0, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(tree, fc.array(changes, { minLength: 1, maxLength: 3 }), async (first, then) => {
      const root = mkdtempSync(join(folder, "made-"));
      git(root, "init", "-q");
      for (const place of places)
        for (let n = 0; n < 18; n++) put(root, join(place, `part-${n}.ts`), `simmer${n}\nkettle\n`);
      for (const change of first) change(root);
      const { compare, exact } = await open(root);
      const same = async (path: string): Promise<void> => {
        const { found, expected, usedIndex } = await compare({ pattern: "simmer(?:3|7)$", path });
        assert.deepEqual(found, expected, `in ${path}`);
        asked++;
        if (usedIndex) used++;
      };
      for (const change of then) {
        change(root);
        await same("");
        await exact.settled();
        await same("");
        await same("lib");
      }
      exact.close();
      rmSync(root, { recursive: true });
    }),
    { numRuns: 4 },
  );
  assert.ok(used > asked / 3, `the index was used ${used} times of ${asked}`);
});
