import assert from "node:assert/strict";
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { git, type Opened, openSample, put, sampleRepository, words } from "../exact-samples.ts";
import type { ExactGrep } from "./exact-grep.ts";
import { trigramsVersion } from "./trigrams.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-exact-"));
const opened: ExactGrep[] = [];
after(() => {
  for (const one of opened) one.close();
  rmSync(folder, { recursive: true });
});

const repository = (): string => sampleRepository(folder);

async function open(root: string, cache: string = mkdtempSync(join(folder, "cache-"))): Promise<Opened> {
  const one = await openSample(root, cache);
  opened.push(one.exact);
  return one;
}

it("returns exactly ripgrep's result for 40 patterns from the text, mostly through the index", async () => {
  const { compare } = await open(repository());
  const word = fc.constantFrom(...words, "part", "call_", "return", "const", "7", "ettl", "氏", "zzz");
  const literal = fc.array(word, { minLength: 1, maxLength: 2 }).map((all) => all.join(""));
  const escaped = (text: string): string => text.replaceAll(/[+().*?"]/g, "\\$&");
  const shapes: readonly ((a: string, b: string) => string)[] = [
    (a) => a,
    (a, b) => `${a}|${b}`,
    (a, b) => `${a}.*${b}`,
    (a) => `\\b${a}\\d+`,
    (a) => `^.*${a}.?;?$`,
    (a) => `(?i)${a.toUpperCase()}`,
    (a, b) => `(?:${a}|${b})[0-9"(]`,
    (a) => `${a}(?=\\W)`,
    (a, b) => `call_${a}\\(\\d{1,3}\\)|"${b}";\\r?$`,
  ];
  const regex = fc
    .tuple(fc.constantFrom(...shapes), literal, literal)
    .map(([shape, a, b]) => ({ pattern: shape(escaped(a), escaped(b)), literal: false }));
  const query = fc.record({
    text: fc.oneof(
      regex,
      literal.map((pattern) => ({ pattern, literal: true })),
    ),
    ignoreCase: fc.boolean(),
    where: fc.constantFrom(
      {},
      {},
      { path: "src" },
      { path: "src/1" },
      { glob: "*.ts" },
      { glob: "!**/part-1*" },
      { glob: "*.nope" },
      { glob: "out/**,*.log" },
      { glob: "src" },
    ),
    exclude: fc.constantFrom([], ["**/.env"], ["**/.env", "src/2"]),
    limit: fc.constantFrom(1000, 1000, 5),
    context: fc.constantFrom(0, 0, 1),
  });
  let used = 0;
  const asked = fc.sample(query, { numRuns: 40, seed: 6 });
  for (const { text, where, ...rest } of asked) {
    const given = { ...text, ...where, ...rest };
    const { expected, found, usedIndex } = await compare(given);
    assert.deepEqual(found, expected, JSON.stringify(given));
    if (usedIndex) used++;
  }
  assert.ok(used > 15, `the index was used ${used} times`);
});

it("notices every change before the next answer", async () => {
  const root = repository();
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "Begin");
  linkSync(join(root, "src/4/part-4.ts"), join(root, "out/linked.ts"));
  git(root, "update-index", "-q", "--refresh");
  const { compare, exact } = await open(root);
  const same = async (what: string, count: number, mayUse = true): Promise<void> => {
    const { expected, found, usedIndex } = await compare({ pattern: "simmer\\w*Soup" });
    assert.deepEqual(found, expected, what);
    assert.equal(typeof found === "object" && found.lines.length, count, what);
    if (mayUse) assert.ok(usedIndex, `${what}: by the index`);
    await exact.settled();
  };
  await same("nothing yet", 0);
  appendFileSync(join(root, "src/3/part-3.ts"), "simmerSoup\n");
  await same("an edit", 1);
  writeFileSync(join(root, "src/3/new.ts"), "simmerSoup\n");
  await same("a new file", 2);
  writeFileSync(join(root, "src/3/new.log"), "simmerSoup\n");
  await same("a new file that is ignored", 2);
  writeFileSync(join(root, "src/3/new.ts.tmp"), "simmerSoup simmerSoup\nsimmerSoup\n");
  renameSync(join(root, "src/3/new.ts.tmp"), join(root, "src/3/new.ts"));
  await same("a file that is replaced", 3);
  rmSync(join(root, "src/3/new.ts"));
  await same("a file that is gone", 1);
  put(root, "src/fresh/deep/er.ts", "simmerSoup\n");
  await same("a new folder", 2, false);
  appendFileSync(join(root, "src/fresh/deep/er.ts"), "simmerSoup\n");
  await same("an edit in it", 3);
  renameSync(join(root, "src/fresh"), join(root, "src/moved"));
  await same("a folder that moved", 3, false);
  writeFileSync(join(root, "src/moved/deep/er.ts"), "simmerMoreSoup\n");
  await same("an edit where it is now", 2);
  writeFileSync(join(root, "src/moved/.gitignore"), "deep\n");
  await same("new rules on ignoring", 1, false);
  rmSync(join(root, "src/moved/.gitignore"));
  await same("no such rules", 2, false);
  writeFileSync(join(root, "src/moved/.latheignore"), "deep/*\n");
  await same("new rules of our own", 1, false);
  rmSync(join(root, "src/moved/.latheignore"));
  await same("none of these", 2, false);
  rmSync(join(root, "src/moved"), { recursive: true });
  mkdirSync(join(root, "src/moved/deep"), { recursive: true });
  await same("a folder that came again, empty", 1, false);
  writeFileSync(join(root, "src/moved/deep/again.ts"), "simmerSoup\n");
  await same("a file in it", 2);
  git(root, "checkout", "-q", "-f", "--", ".");
  await same("a checkout", 1);
  appendFileSync(join(root, "out/linked.ts"), "simmerSoup\n");
  await same("a change under another name", 2);
  writeFileSync(join(root, ".git/info/exclude"), "part-4.ts\nagain.ts\n");
  await same("rules of the repository", 0, false);
});

it("shares segments among worktrees, and indexes neither secrets nor fresh files", async () => {
  const root = repository();
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "Begin");
  const first = await open(root);
  const segments = () =>
    readdirSync(first.cache, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".trigrams"),
    );
  assert.equal(segments().length, 1);
  const tree = `${root}-tree`;
  git(root, "worktree", "add", "-q", tree);
  // Git has just written them all; a person comes later.
  for (const path of git(tree, "ls-files", "-z").split("\0").slice(0, -1))
    utimesSync(join(tree, path), 1_700_000_000, 1_700_000_000);
  git(tree, "update-index", "-q", "--refresh");
  const second = await open(tree, first.cache);
  assert.equal(segments().length, 1);
  const { found, expected, usedIndex } = await second.compare({ pattern: "boilWater3", literal: true });
  assert.deepEqual([found, usedIndex], [expected, true]);
  const secret = await first.compare({ pattern: "secretSauce" });
  assert.deepEqual([secret.found, secret.usedIndex], [secret.expected, true]);
  const bytes = Buffer.concat(segments().map((name) => readFileSync(join(first.cache, name))));
  const id = git(root, "hash-object", "secret/.env").trim();
  const words = new Uint32Array(id.match(/.{8}/g)?.map((word) => Number.parseInt(word, 16)) ?? []);
  assert.equal(bytes.includes(Buffer.from(words.buffer)), false);
});

it("rebuilds torn or outdated files, and answers meanwhile", async () => {
  const [root, cache] = [repository(), mkdtempSync(join(folder, "cache-"))];
  const first = await open(root, cache);
  const [own = ""] = readdirSync(cache);
  const other = own.replace(`t${trigramsVersion}-`, "t0-");
  mkdirSync(join(cache, other));
  const segment = readdirSync(join(cache, own)).find((name) => name.endsWith(".trigrams")) ?? "";
  const whole = readFileSync(join(cache, own, segment));
  const torn = Uint8Array.from(whole).fill(0, whole.length >> 1);
  writeFileSync(join(cache, own, segment), torn);
  const pattern = "const whistle_loudly\\d";
  const running = await first.compare({ pattern });
  assert.deepEqual([running.found, running.usedIndex], [running.expected, false]);
  await first.exact.settled();
  const again = await first.compare({ pattern });
  assert.deepEqual([again.found, again.usedIndex], [again.expected, true]);
  for (const name of readdirSync(join(cache, own))) writeFileSync(join(cache, own, name), "torn");
  const second = await open(root, cache);
  const after = await second.compare({ pattern });
  assert.deepEqual([after.found, after.usedIndex], [after.expected, true]);
  assert.ok(!readdirSync(cache).includes(other));
});

it("reports a bad pattern also if no file is a candidate", async () => {
  const { compare } = await open(repository());
  for (const pattern of ["nowhere\\p{Nothing}", "nowhere[z-a]", "nowhere{3,1}"]) {
    const { expected, found } = await compare({ pattern });
    assert.equal(typeof expected, "string");
    assert.equal(found, expected);
  }
});

it("leaves small trees to ripgrep, and knows which of their files are excluded", async () => {
  const root = mkdtempSync(join(folder, "small-"));
  git(root, "init", "-q");
  for (const path of ["a/one.ts", "a/.env"]) put(root, path, "kettle\n");
  const { compare, cache } = await open(root);
  put(root, "a/b.env", "kettle\n");
  for (const pattern of ["kettle", "k|."]) {
    const { expected, found, usedIndex, knewLeftOut } = await compare({ pattern, exclude: ["*.env"] });
    assert.deepEqual([found, usedIndex, knewLeftOut], [expected, false, true]);
    assert.ok(typeof found !== "string" && found.leftOut === 2);
  }
  assert.deepEqual(readdirSync(cache), []);
});

it("leaves folders without a repository to ripgrep if it cannot be certain", async () => {
  const root = mkdtempSync(join(folder, "no-repository-"));
  for (let n = 0; n < 100; n++) put(root, `a/b/${n}.ts`, `kettle${n}\n`);
  put(root, "a/.gitignore", "4*.ts\n");
  const large = await open(root);
  for (const path of [undefined, "a", "a/b"]) {
    const { expected, found, usedIndex } = await large.compare({ pattern: "kettle4", ...(path && { path }) });
    assert.deepEqual(found, expected);
    assert.equal(usedIndex, path === undefined);
  }
});
