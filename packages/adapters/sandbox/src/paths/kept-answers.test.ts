/** An answer is kept as long as what it was read from is the same, and not a moment longer. */
import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { keepAnswers, type Notes } from "./kept-answers.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-kept-")));
after(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;

interface Scene {
  readonly at: (name: string) => string;
  /** Whether it was looked again. */
  readonly looks: () => boolean;
}

/** What is there is older than a tick, so that answers are kept. */
async function scene(note: (at: (name: string) => string, notes: Notes) => void): Promise<Scene> {
  const own = join(folder, String(++made));
  mkdirSync(join(own, "folder"), { recursive: true });
  writeFileSync(join(own, "file"), "one");
  writeFileSync(join(own, "other"), "two");
  symlinkSync("file", join(own, "link"));
  await sleep(50);
  const at = (name: string): string => join(own, name);
  const keep = keepAnswers<number>();
  let count = 0;
  const looks = (): boolean => {
    const before = count;
    keep("", (notes) => {
      note(at, notes);
      return ++count;
    });
    return count > before;
  };
  looks();
  assert.equal(looks(), false);
  return { at, looks };
}

describe("an answer is old", () => {
  it("when a file was written, in place and to the same size", async () => {
    const { at, looks } = await scene((path, { content }) => content(path("file")));
    writeFileSync(at("file"), "eno");
    utimesSync(at("file"), 0, 0);
    assert.equal(looks(), true);
  });

  it("when a file was replaced or has gone", async () => {
    const { at, looks } = await scene((path, { being }) => being(path("file")));
    renameSync(at("other"), at("file"));
    assert.equal(looks(), true);
    unlinkSync(at("file"));
    assert.equal(looks(), true);
  });

  it("when there is something where nothing was", async () => {
    const { at, looks } = await scene((path, { being, content }) => {
      being(path("new/deep"));
      content(path("new"));
    });
    mkdirSync(at("new/deep"), { recursive: true });
    assert.equal(looks(), true);
  });

  it("when a link leads elsewhere", async () => {
    const { at, looks } = await scene((path, { being }) => being(path("link")));
    unlinkSync(at("link"));
    symlinkSync("other", at("link"));
    assert.equal(looks(), true);
  });

  it("when something in a folder came, went, or changed its name", async () => {
    const { at, looks } = await scene((path, { content }) => content(path("folder")));
    writeFileSync(at("folder/a"), "");
    assert.equal(looks(), true);
    await sleep(50);
    assert.equal(looks(), true, "it was too young to be kept");
    assert.equal(looks(), false);
    renameSync(at("folder/a"), at("folder/b"));
    assert.equal(looks(), true);
  });

  it("when a program can be run no more", async () => {
    const { at, looks } = await scene((path, { being }) => being(path("file")));
    chmodSync(at("file"), 0o755);
    assert.equal(looks(), true);
  });
});

it("one whose finding fails is not kept", () => {
  const keep = keepAnswers<string>();
  const file = join(folder, "late");
  const look = (): string => keep("", () => readFileSync(file, "utf8")).value;
  assert.throws(look, /ENOENT/);
  writeFileSync(file, "here");
  assert.equal(look(), "here");
});

it("answers to other questions are apart, and the same finding has the same version", async () => {
  await sleep(50);
  const keep = keepAnswers<number>();
  const count = (name: string): number =>
    keep(name, ({ content }) => {
      content(folder);
      return readdirSync(folder).length + name.length;
    }).version;
  const [one, two] = [count("a"), count("bb")];
  assert.notEqual(one, two);
  assert.deepEqual([count("a"), count("bb")], [one, two]);
});
