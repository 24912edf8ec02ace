import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it, type TestContext } from "node:test";
import { type Opened, openSample, put, sampleRepository } from "../exact-samples.ts";
import type { ExactGrep, ExactGrepOptions } from "./exact-grep.ts";

const folder = mkdtempSync(join(tmpdir(), "lathe-hearing-"));
const opened: ExactGrep[] = [];
after(() => {
  for (const one of opened) one.close();
  rmSync(folder, { recursive: true });
});

const repository = (): string => sampleRepository(folder);

async function open(
  root: string,
  cache: string = mkdtempSync(join(folder, "cache-")),
  options: Partial<ExactGrepOptions> = {},
): Promise<Opened> {
  const one = await openSample(root, cache, options);
  opened.push(one.exact);
  return one;
}

it("notices changes also if the root, or a folder above it, was replaced", async () => {
  const above = mkdtempSync(join(folder, "above-"));
  const root = join(above, "tree");
  renameSync(repository(), root);
  const { compare, exact } = await open(root);
  const changes: readonly (() => void)[] = [
    () => {
      renameSync(root, `${root}.old`);
      cpSync(`${root}.old`, root, { recursive: true, preserveTimestamps: true });
    },
    () => {
      renameSync(above, `${above}.old`);
      cpSync(`${above}.old`, above, { recursive: true, preserveTimestamps: true });
    },
    () => {
      cpSync(root, `${root}.kept`, { recursive: true, preserveTimestamps: true });
      rmSync(root, { recursive: true });
      cpSync(`${root}.kept`, root, { recursive: true, preserveTimestamps: true });
    },
  ];
  for (const [n, change] of changes.entries()) {
    change();
    appendFileSync(join(root, "src/3/part-3.ts"), `simmerSoup${n}\n`);
    for (const isSettled of [false, true]) {
      const { found, usedIndex } = await compare({ pattern: `simmerSoup${n}` });
      assert.equal(typeof found === "object" && found.lines.length, 1, `change ${n}`);
      assert.equal(usedIndex, isSettled, `change ${n}`);
      await exact.settled();
    }
    appendFileSync(join(root, "src/3/part-4.ts"), `simmerStew${n}\n`);
    const { found } = await compare({ pattern: `simmerStew${n}` });
    assert.equal(typeof found === "object" && found.lines.length, 1, `after change ${n}`);
  }
});

function setEnv(t: TestContext, name: "HOME" | "XDG_CONFIG_HOME", value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  t.after(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}

it("respects a person's ignore rules elsewhere, also behind links", async (t) => {
  const home = mkdtempSync(join(folder, "home-"));
  const config = join(home, "conf");
  setEnv(t, "HOME", home);
  setEnv(t, "XDG_CONFIG_HOME", config);
  put(home, "dot/gitconfig", "[core]\n\texcludesFile = ~/dot/rules\n");
  put(home, "dot/rules", "part-4.ts\n");
  symlinkSync("dot/gitconfig", join(home, ".gitconfig"));
  const root = repository();
  for (const n of [3, 4, 5, 6, 7]) put(root, `src/${n}/part-${n}.ts`, "simmerSoup\n");
  const { compare, exact } = await open(root, undefined, { configHome: config });
  const same = async (what: string, count: number): Promise<void> => {
    const { expected, found } = await compare({ pattern: "simmerSoup" });
    assert.deepEqual(found, expected, what);
    assert.equal(typeof found === "object" && found.lines.length, count, what);
    await exact.settled();
    assert.ok((await compare({ pattern: "simmerSoup" })).usedIndex, `${what}: by the index`);
  };
  await same("as it begins", 4);
  put(home, "dot/rules", "part-4.ts\npart-5.ts\n");
  await same("the file that the configuration names", 3);
  put(home, "dot/gitconfig", "# nothing\n");
  await same("the configuration behind a link", 5);
  put(config, "git/ignore", "part-6.ts\n");
  await same("the file that needs no configuration", 4);
  put(config, "git/config", "[core]\nexcludesfile=~/dot/rules\n");
  await same("the other configuration", 3);
  put(home, "dot/rules", "part-4.ts\npart-5.ts\npart-6.ts\n");
  await same("the file that it names", 2);
});

it("leaves trees to ripgrep if ignore rules may change unnoticed", async () => {
  const linked = repository();
  put(linked, "d/shared.rules", "part-4.ts\n");
  symlinkSync("../../d/shared.rules", join(linked, "src/4/.gitignore"));
  const alone = repository();
  const left = await open(alone);
  assert.ok((await left.compare({ pattern: "boilWater3" })).usedIndex);
  const changes: readonly (readonly [Opened, () => void])[] = [
    [await open(linked), () => put(linked, "d/shared.rules", "# nothing\n")],
    [left, () => rmSync(join(alone, ".git"), { recursive: true })],
  ];
  for (const [n, [{ compare, exact }, change]] of changes.entries()) {
    await compare({ pattern: "part 4" });
    await exact.settled();
    change();
    for (let time = 0; time < 2; time++) {
      const { expected, found, usedIndex } = await compare({ pattern: "part 4" });
      assert.deepEqual([found, usedIndex], [expected, false], `change ${n}`);
      await exact.settled();
    }
  }
});

it("looks at everything again after five minutes, for missed changes", async (t) => {
  const root = repository();
  const { compare, exact } = await open(root);
  linkSync(join(root, "src/4/part-4.ts"), join(root, "out/later.ts"));
  await compare({ pattern: "simmerSoup" });
  appendFileSync(join(root, "out/later.ts"), "simmerSoup\n");
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() + 400_000 });
  await compare({ pattern: "simmerSoup" });
  await exact.settled();
  const { found, expected, usedIndex } = await compare({ pattern: "simmerSoup" });
  assert.deepEqual([found, usedIndex], [expected, true]);
  assert.equal(typeof found === "object" && found.lines.length, 1);
});

it("keeps one copy of each segment that sessions built at the same time", async () => {
  const root = repository();
  const cache = mkdtempSync(join(folder, "cache-"));
  const segments = () =>
    readdirSync(cache, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".trigrams"));
  await Promise.all([open(root, cache), open(root, cache), open(root, cache)]);
  assert.equal(segments().length, 3);
  const { compare } = await open(root, cache);
  assert.equal(segments().length, 1);
  const { found, expected, usedIndex } = await compare({ pattern: "boilWater3" });
  assert.deepEqual([found, usedIndex], [expected, true]);
});
