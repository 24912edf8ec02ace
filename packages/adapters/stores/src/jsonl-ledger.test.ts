/** The ledger in a file: leftovers of a crash or a full disk never count, and never hide later entries. */
import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { LedgerEntry } from "@lathe/protocol";
import { failedWith, succeeded } from "@lathe/testkit";
import { nodeFiles } from "./files.ts";
import { createJsonlLedgers } from "./jsonl-ledger.ts";

const owner = { host: "h", pid: 1, startedAt: 1 };
const reserved = (attempt: string): LedgerEntry => {
  return { type: "budget.reserved", session: "s", attempt, owner, tokens: 1, cost: 0.4 };
};

describe("the ledger's file", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "lathe-ledger-"));
    path = join(folder, "ledgers", "root.jsonl");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const open = (files = nodeFiles) => createJsonlLedgers({ folder, files }).open("root");
  const attempts = async (): Promise<readonly string[]> =>
    succeeded(await open().read()).open.map(({ attempt }) => attempt);

  it("is created by the first entry, not by reading", async () => {
    assert.equal(succeeded(await open().read()).entries, 0);
    assert.equal(existsSync(path), false);
    await open().enter([reserved("a")], { durable: true });
    assert.deepEqual(await attempts(), ["a"]);
  });

  it("skips an entry cut short anywhere, and accepts the next", async () => {
    await open().enter([reserved("a")], { durable: false });
    const whole = readFileSync(path);
    const line = Buffer.from(`\n${JSON.stringify(reserved("torn"))}`);
    for (let length = 0; length < line.length; length++) {
      writeFileSync(path, whole);
      appendFileSync(path, line.subarray(0, length));
      assert.deepEqual(await attempts(), ["a"]);
      await open().enter([reserved("b")], { durable: false });
      assert.deepEqual(await attempts(), ["a", "b"], `${length}`);
    }
  });

  it("does not block others while one waits behind a cut entry, and does not read that again", async () => {
    await open().enter([reserved("a")], { durable: false });
    appendFileSync(path, '\n{"type":"budget.res');
    let reads = 0;
    const read: typeof nodeFiles.read = (...args) => {
      reads += 1;
      return nodeFiles.read(...args);
    };
    const ledger = open({ ...nodeFiles, read });
    await ledger.read();
    const turn = Promise.withResolvers<string>();
    setTimeout(() => turn.resolve("a turn"));
    const changed = ledger.changed(new AbortController().signal).then(() => "changed");
    assert.equal(await Promise.race([changed, turn.promise]), "a turn");
    await changed;
    await ledger.read();
    assert.equal(reads, 1);
  });

  it("reports a full disk, and counts none of the entries", async () => {
    await open().enter([reserved("a")], { durable: false });
    const full = {
      ...nodeFiles,
      write: (fd: number, bytes: Uint8Array) => nodeFiles.write(fd, bytes.subarray(0, 20)),
    };
    failedWith("disk-full", await open(full).enter([reserved("b")], { durable: false }));
    await open().enter([reserved("c")], { durable: false });
    assert.deepEqual(await attempts(), ["a", "c"]);
  });

  it("refuses a root that is not a valid name", async () => {
    const ledger = createJsonlLedgers({ folder }).open("../up");
    failedWith("invalid-arguments", await ledger.read());
    failedWith("invalid-arguments", await ledger.enter([reserved("a")], { durable: false }));
  });
});
