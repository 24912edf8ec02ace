/** Restores a checkpoint: all of it, nothing else, and no later work of others. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Failure, failure } from "@lathe/protocol";
import { failedWith, succeeded } from "@lathe/testkit";
import { committed, newFolder, place, placeAt, repository } from "./checkpoint-place.test.ts";

describe("restore", () => {
  it("undoes commands' effects: deletions, moves, permissions, additions, links, folders in place of files", async () => {
    const { root, put, take, checkpoints, tree } = await place();
    put("a.txt", "a");
    put("dir/b.bin", new Uint8Array([0, 1, 255, 254]));
    put("dir/deep/c", "");
    put("private", "p", 0o600);
    put("read-only", "r", 0o444);
    put("run.sh", "#!/bin/sh\n", 0o755);
    put("odd", "o", 0o640);
    put("turns", "file");
    put("goes/x", "x");
    mkdirSync(join(root, "empty/er"), { recursive: true });
    chmodSync(join(root, "empty"), 0o700);
    symlinkSync("a.txt", join(root, "link"));
    symlinkSync("/etc/passwd", join(root, "out"));
    symlinkSync("nowhere", join(root, "dangling"));
    symlinkSync("dir", join(root, "to-folder"));
    const { ref } = await take();
    const start = tree();
    execFileSync("sh", [
      "-c",
      `cd '${root}' && rm a.txt && mv dir moved && chmod 777 private && chmod 600 run.sh read-only && echo new > odd &&
       rm turns && mkdir -p turns/now/a && echo x > turns/now/a/folder && rm -r goes && ln -s turns goes &&
       rm -r empty && echo f > empty && ln -sf other link && rm out && mkdir out && rm dangling &&
       rm to-folder && mkdir to-folder && echo i > to-folder/inside && mkdir -p new/folder && echo n > new/folder/file && ln -s x new/link`,
    ]);
    const end = tree();
    const { undo, now, left } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(left, []);
    assert.deepEqual(tree(), start);
    succeeded(await checkpoints.restore(undo, { session: "s1", expected: now }));
    assert.deepEqual(tree(), end);
  });

  it("preserves names of any characters", async () => {
    const { root, put, take, checkpoints, tree } = await place();
    const names = [
      "with space",
      "new\nline",
      'quo"te',
      "it's",
      "-dash",
      "--force",
      "tab\t",
      "back\\slash",
      "Ünïcödé",
      "日本語/深い",
      "e\u0301",
      "\u00e9",
      "*",
      "?",
      ":",
      "~",
      "$HOME",
      "%",
      "#",
      "🎉",
      ".hidden",
      "trailing.",
      " lead",
      "a\u2028b",
      "__proto__",
    ];
    for (const name of names) put(name, `of ${name}`);
    const { ref } = await take();
    const start = tree();
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
    const { changed } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
    for (const name of names) assert.ok(changed.includes(name), name);
  });

  it("preserves names that are not UTF-8", async () => {
    const { root, take, checkpoints, tree } = await place();
    const at = (...bytes: readonly number[]): Buffer =>
      Buffer.concat([Buffer.from(`${root}/`), Buffer.from(bytes)]);
    writeFileSync(at(0x61, 0xff), "1");
    mkdirSync(at(0xc3));
    writeFileSync(at(0xc3, 0x2f, 0x78), "x");
    chmodSync(at(0xc3, 0x2f, 0x78), 0o600);
    symlinkSync("t", at(0xfe));
    writeFileSync(at(0xfd), "to folder");
    const { ref } = await take();
    const start = tree();
    rmSync(at(0x61, 0xff));
    rmSync(at(0xc3, 0x2f, 0x78));
    rmSync(at(0xfe));
    rmSync(at(0xfd));
    mkdirSync(at(0xfd));
    writeFileSync(at(0xfd, 0x2f, 0x61), "in it");
    writeFileSync(at(0xc3, 0x28), "new");
    const end = tree();
    const { undo } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
    succeeded(await checkpoints.restore(undo, { session: "s1" }));
    assert.deepEqual(tree(), end);
  });

  it("refuses to overwrite changes since the expected state, unless told to", async () => {
    const { put, root, take, checkpoints, tree } = await place();
    put("a", "1");
    put("b", "1");
    put("c", "1");
    const first = await take();
    put("a", "2");
    put("new", "agent's");
    const second = await take();
    put("a", "user's");
    put("mine", "user's");
    const theirs = tree();
    const refused = await checkpoints.restore(first.ref, { session: "s1", expected: second.ref });
    failedWith("stale-version", refused);
    assert.match((refused as Failure).text, /changes to a\./);
    assert.deepEqual(tree(), theirs);
    const forced = { session: "s1", expected: second.ref, force: true };
    succeeded(await checkpoints.restore(first.ref, forced));
    assert.equal(readFileSync(join(root, "a"), "utf8"), "1");
    assert.equal(readFileSync(join(root, "mine"), "utf8"), "user's");
    succeeded(await checkpoints.restore(first.ref, { session: "s1" }));
    assert.deepEqual(Object.keys(tree()), ["a", "b", "c"]);
  });

  it("ignores later work that it would not touch", async () => {
    const { put, root, take, checkpoints } = await place();
    put("a", "1");
    put("b", "1");
    const first = await take();
    put("a", "2");
    const second = await take();
    put("b", "user's");
    const third = await take();
    put("a", "1");
    const only = succeeded(
      await checkpoints.restore(first.ref, {
        session: "s1",
        expected: second.ref,
      }),
    );
    assert.deepEqual(only.changed, []);
    assert.equal(readFileSync(join(root, "b"), "utf8"), "user's");
    assert.ok(third);
  });

  it("leaves folders whose content is in no checkpoint", async () => {
    const root = repository(newFolder());
    const { put, take, checkpoints } = await placeAt(root);
    put("a", "a");
    const { ref } = await take();
    committed(join(root, "cloned"));
    put("app/package.json", "{}");
    put("app/node_modules/m/i.js", "m");
    const { left } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(left, [
      { path: "app/node_modules", why: "ignored" },
      { path: "cloned/.git", why: "repository" },
    ]);
    assert.deepEqual(readdirSync(join(root, "app")), ["node_modules"]);
    assert.deepEqual(readdirSync(join(root, "cloned")), [".git"]);
  });

  it("explains each omission, also for other processes' files in a folder to be removed", async () => {
    const { root, put, take, checkpoints } = await place({ limits: { maxFileBytes: 1_000 } });
    put("a", "a");
    const first = await take();
    put("made/own", "agent's");
    put("made/deep/own", "agent's");
    const second = await take();
    put("made/notes", "user's");
    put("made/large", "x".repeat(2_000));
    put("made/.hg/x", "x");
    const forced = { session: "s1", expected: second.ref, force: true };
    const { left, changed } = succeeded(await checkpoints.restore(first.ref, forced));
    assert.deepEqual(left.map(({ path, why }) => `${path} ${why}`).sort(), [
      "made/.hg repository",
      "made/large too-large",
      "made/notes added-since",
    ]);
    assert.deepEqual([...changed].sort(), ["made/deep", "made/deep/own", "made/own"]);
    assert.equal(readFileSync(join(root, "made/notes"), "utf8"), "user's");
  });

  it("restores names that are not UTF-8 in folders that are gone, or have become links", async () => {
    const { root, take, checkpoints, tree } = await place();
    const odd = Buffer.from([0x2f, 0x61, 0xff]);
    const at = (folder: string): Buffer => Buffer.concat([Buffer.from(join(root, folder)), odd]);
    for (const folder of ["gone", "linked"]) {
      mkdirSync(join(root, folder));
      writeFileSync(at(folder), folder);
    }
    const { ref } = await take();
    const start = tree();
    for (const folder of ["gone", "linked"]) rmSync(join(root, folder), { recursive: true });
    symlinkSync("nowhere", join(root, "linked"));
    const end = tree();
    const { undo } = succeeded(await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
    succeeded(await checkpoints.restore(undo, { session: "s1" }));
    assert.deepEqual(tree(), end);
  });

  it("does nothing for an owner that has lost the session", async () => {
    const lost = failure("stale-epoch", "somebody else owns the session");
    const { put, take, checkpoints, tree } = await place({ withLease: async () => lost });
    put("a", "1");
    const { ref } = await take();
    put("a", "2");
    put("b", "2");
    const present = tree();
    failedWith("stale-epoch", await checkpoints.restore(ref, { session: "s1" }));
    assert.deepEqual(tree(), present);
  });

  it("reports an invalid, missing or damaged ref", async () => {
    const { put, take, checkpoints, state } = await place();
    put("a", "1".repeat(500));
    const { ref } = await take();
    put("a", "2");
    failedWith("not-found", await checkpoints.restore("--upload-pack=x", { session: "s1" }));
    failedWith("not-found", await checkpoints.restore("0".repeat(40), { session: "s1" }));
    const packs = join(
      state,
      "checkpoints",
      readdirSync(join(state, "checkpoints"))[0] ?? "",
      "objects/pack",
    );
    for (const name of readdirSync(packs).filter((one) => one.endsWith(".pack"))) {
      const bytes = readFileSync(join(packs, name));
      bytes.fill(0x55, 14, bytes.length - 22);
      chmodSync(join(packs, name), 0o600);
      writeFileSync(join(packs, name), bytes);
    }
    const result = await checkpoints.restore(ref, { session: "s1" });
    failedWith("log-corrupt", result);
  });
});
