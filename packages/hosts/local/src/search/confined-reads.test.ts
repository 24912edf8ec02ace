import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { nativeBinary } from "@lathe/sandbox";
import { openConfineReads } from "@lathe/sandbox/confine-reads";
import { createSearch } from "@lathe/search";
import { cacheFolder } from "@lathe/system";
import { confinedReads } from "./confined-reads.ts";

const temp = realpathSync(mkdtempSync(join(tmpdir(), "lathe-confined-reads-")));
after(() => rmSync(temp, { recursive: true }));
const env = { HOME: homedir(), XDG_CACHE_HOME: join(temp, "cache") };
const empty = join(temp, "empty");
const before = await openConfineReads(cacheFolder({ XDG_CACHE_HOME: empty }));
await nativeBinary({ cacheFolder: cacheFolder(env), path: process.env.PATH ?? "" });
const canConfine = typeof (await openConfineReads(cacheFolder(env))) === "function";
const skip = canConfine ? false : "needs Landlock and a compiler for the launcher";

describe("a confined search", { skip }, () => {
  const root = join(temp, "above", "tree");
  const outside = join(temp, "outside");
  mkdirSync(join(root, "d"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(root, "d", "f"), "needle inside\n");
  writeFileSync(join(root, "d", "made.log"), "needle\n");
  writeFileSync(join(outside, "f"), "needle outside\n");
  const { signal } = new AbortController();

  it("reads nothing behind a link in the tree, even if ripgrep is pointed there", async () => {
    symlinkSync(outside, join(root, "out"));
    const search = createSearch({ root, confine: confinedReads(env) });
    const grep = async (path: string) => {
      const found = await search.grep({ pattern: "needle", limit: 9, path }, signal);
      return isFailure(found) ? found.code : found.lines.map((line) => line.path);
    };
    assert.deepEqual(await grep("."), ["d/f", "d/made.log"]);
    assert.deepEqual(await grep("out"), []);
    const plain = createSearch({ root });
    const unconfined = await plain.grep({ pattern: "needle", limit: 9, path: "out" }, signal);
    assert.ok(!isFailure(unconfined) && unconfined.lines.length === 1, "the link does lead there");
  });

  it("does not wait for a launcher to be compiled", () => {
    assert.equal(before, undefined);
    assert.equal(existsSync(empty), false);
  });

  it("uses the launcher of each environment's own cache folder", async () => {
    const words = await confinedReads(env)([root], "/bin/true");
    assert.notDeepEqual(words, ["/bin/true"]);
    const other = await confinedReads({ ...env, XDG_CACHE_HOME: empty })([root], "/bin/true");
    assert.deepEqual(other, ["/bin/true"], "nothing is there to confine it with");
  });

  it("still respects the ignore files of parent folders and of the user", async () => {
    mkdirSync(join(temp, "above", ".git"));
    writeFileSync(join(temp, "above", ".gitignore"), "*.log\n");
    const search = createSearch({ root, confine: confinedReads(env) });
    const found = await search.files({ limit: 9 }, signal);
    assert.ok(!isFailure(found));
    assert.deepEqual(
      found.paths.filter((path) => path.startsWith("d/")),
      ["d/f"],
    );
  });

  it("reads no device that an ignore file links to", async () => {
    const place = join(temp, "zero");
    mkdirSync(place);
    writeFileSync(join(place, "a"), "needle\n");
    symlinkSync("/dev/zero", join(place, ".gitignore"));
    const search = createSearch({ root: place, confine: confinedReads(env) });
    const found = await search.grep({ pattern: "needle", limit: 9 }, signal);
    assert.ok(!isFailure(found) && found.lines.length === 1);
  });

  it("sees nothing of the home folder except ignore files", async () => {
    const words = await confinedReads(env)([root], "/bin/true");
    assert.equal(words.at(-1), "/bin/true");
    assert.ok(!words.includes(homedir()));
    assert.ok(readFileSync(words[0] ?? "").length > 0);
  });
});
