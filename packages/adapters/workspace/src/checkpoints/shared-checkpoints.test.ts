/** Checkpoints after a power cut, of another user's files, and of two processes at once. */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { succeeded } from "@lathe/testkit";
import { type Disk, nodeDisk } from "../disk/disk.ts";
import { folder, newFolder, optionsFor, place, put, putWith } from "./checkpoint-place.test.ts";
import { openCheckpoints } from "./open-checkpoints.ts";

describe("after a power cut", () => {
  const storeOf = (state: string): string =>
    join(state, "checkpoints", readdirSync(join(state, "checkpoints"))[0] ?? "");

  it("a torn ref counts as missing, and blocks nothing", async () => {
    const { root, state, put, take } = await place();
    put("a", "1");
    const { ref } = await take();
    writeFileSync(join(storeOf(state), "refs/sessions/s1"), "");
    writeFileSync(join(storeOf(state), "refs/sessions/s0"), `${"0".repeat(40)}\n`);
    const again = succeeded(await openCheckpoints(optionsFor(root, state)));
    succeeded(await again.take("s2"));
    succeeded(await again.collect());
    succeeded(await again.take("s1"));
    put("a", "2");
    succeeded(await again.restore(ref, { session: "s1" }));
    assert.deepEqual(readdirSync(join(storeOf(state), "refs/sessions")).sort(), ["s1", "s2"]);
  });

  it("content of a torn pack is stored again, and missing content is never trusted", async () => {
    const { root, state, put, take, tree } = await place();
    put("a", "1".repeat(1_000));
    put("b/c", "1");
    const first = await take();
    put("b/c", "2");
    const second = await take();
    const packs = join(storeOf(state), "objects/pack");
    for (const name of readdirSync(packs).filter((one) => one.endsWith(".pack"))) {
      truncateSync(join(packs, name), 20);
    }
    writeFileSync(join(storeOf(state), "files-seen.json"), "\0".repeat(100));
    const again = succeeded(await openCheckpoints(optionsFor(root, state)));
    for (const { ref } of [first, second]) {
      assert.ok(isFailure(await again.restore(ref, { session: "s1" })));
    }
    const start = tree();
    const third = succeeded(await again.take("s1"));
    rmSync(join(root, "a"));
    rmSync(join(root, "b"), { recursive: true });
    succeeded(await again.restore(third.ref, { session: "s1" }));
    assert.deepEqual(tree(), start);
  });
});

describe("permissions", { skip: process.getuid?.() !== 0 && "needs root to become somebody else" }, () => {
  it("an unreadable file or folder is skipped, and left alone", () => {
    const root = newFolder();
    const state = mkdtempSync(join(folder, "state-"));
    put(root, "a", "1");
    putWith(0o000)(root, "closed", "secret");
    put(root, "locked/x", "x");
    put(root, "read-only/x", "x");
    put(root, "listed/x", "x");
    execFileSync("chown", ["-R", "65534:65534", root, state]);
    chmodSync(join(root, "locked"), 0o000);
    chmodSync(join(root, "read-only"), 0o555);
    chmodSync(join(root, "listed"), 0o444);
    chmodSync(folder, 0o755);
    const script = `
      process.setgid(65534); process.setuid(65534);
      const { openCheckpoints } = await import(${JSON.stringify(join(import.meta.dirname, "open-checkpoints.ts"))});
      const { writeFileSync, unlinkSync, chmodSync } = await import("node:fs");
      const root = ${JSON.stringify(root)};
      const c = await openCheckpoints(${JSON.stringify(optionsFor(root, state, { home: "/nonexistent" }))});
      const first = await c.take("s1");
      writeFileSync(root + "/a", "2");
      chmodSync(root + "/read-only", 0o755); unlinkSync(root + "/read-only/x"); chmodSync(root + "/read-only", 0o555);
      const restored = await c.restore(first.ref, { session: "s1" });
      console.log(JSON.stringify({ first, restored }));`;
    const ran = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script], {
      encoding: "utf8",
      env: { PATH: process.env.PATH },
      cwd: "/",
    });
    assert.equal(ran.status, 0, ran.stderr);
    const { first, restored } = JSON.parse(ran.stdout);
    assert.deepEqual(first.skipped, [
      { path: "listed/x", why: "unreadable" },
      { path: "locked", why: "unreadable" },
      { path: "closed", why: "unreadable" },
    ]);
    assert.deepEqual(restored.changed, ["a", "read-only/x"]);
    assert.equal(readFileSync(join(root, "a"), "utf8"), "1");
    assert.equal(readFileSync(join(root, "closed"), "utf8"), "secret");
    assert.equal(lstatSync(join(root, "read-only")).mode & 0o777, 0o555);
    chmodSync(join(root, "locked"), 0o755);
  });
});

describe("two processes in one folder", () => {
  it("git ignores a pack that is still being written, whichever process packs meanwhile", async () => {
    const seen: string[] = [];
    const look = (path: string): void => void seen.push(...readdirSync(dirname(path)));
    const rename: Disk["rename"] = (from, to) => {
      look(from);
      nodeDisk.rename(from, to);
    };
    const { put, take } = await place({ disk: { ...nodeDisk, rename } });
    put("a", "1");
    await take();
    assert.ok(seen.some((name) => name.startsWith("tmp-")));
    assert.deepEqual(
      seen.filter((name) => /\.(?:idx|pack)$/.test(name) && !/^pack-[0-9a-f]{40}\./.test(name)),
      [],
    );
  });

  it("do not disturb each other", async () => {
    const { root, state, put, checkpoints } = await place();
    for (let i = 0; i < 200; i++) put(`d${i % 10}/f${i}`, `${i}`);
    const script = `
      const { openCheckpoints } = await import(${JSON.stringify(join(import.meta.dirname, "open-checkpoints.ts"))});
      const { writeFileSync } = await import("node:fs");
      const [name] = process.argv.slice(-1);
      const c = await openCheckpoints(${JSON.stringify(optionsFor(root, state))});
      const refs = [];
      for (let i = 0; i < 12; i++) {
        writeFileSync(${JSON.stringify(root)} + "/by-" + name, String(i));
        const taken = await c.take(name);
        if (!taken.ref) throw new Error(taken.text);
        refs.push(taken.ref);
        if (i % 10 === 5) { const done = await c.collect(); if (done.code) throw new Error(done.text); }
      }
      for (const ref of refs) { const d = await c.difference(ref); if (d.code) throw new Error(ref + d.text); }
      await c.close();
      console.log(new Set(refs).size);`;
    const runs = await Promise.all(
      ["one", "two", "three"].map(
        (name) =>
          new Promise<string>((resolve) => {
            const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script, name], {
              env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
            });
            let text = "";
            child.stdout.on("data", (chunk) => (text += chunk));
            child.stderr.on("data", (chunk) => (text += chunk));
            child.on("close", (code) => resolve(`${code} ${text.trim()}`));
          }),
      ),
    );
    assert.deepEqual(runs, ["0 12", "0 12", "0 12"]);
    const marks = join(state, "checkpoints", readdirSync(join(state, "checkpoints"))[0] ?? "", "marks");
    await checkpoints.close();
    assert.deepEqual(readdirSync(marks), []);
  });

  it("files that change constantly are captured whole, each as it was at some moment", async () => {
    const { root, put, take, checkpoints } = await place();
    const texts = ["a", "b"].map((letter) => letter.repeat(300_000));
    put("busy", texts[0] ?? "");
    let stop = false;
    const writing = (async () => {
      for (let i = 0; !stop; i++) {
        writeFileSync(join(root, "next"), texts[i % 2] ?? "");
        renameSync(join(root, "next"), join(root, "busy"));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const refs: string[] = [];
    for (let i = 0; i < 20; i++) refs.push((await take()).ref);
    stop = true;
    await writing;
    for (const ref of refs) {
      succeeded(await checkpoints.restore(ref, { session: "s1" }));
      assert.ok(texts.includes(readFileSync(join(root, "busy"), "utf8")));
    }
  });
});
