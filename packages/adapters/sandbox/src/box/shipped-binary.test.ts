/** A launcher built for the published package, and the doubts that keep it from being used. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { shippedName } from "./launcher-sources.ts";
import { nativeBinary } from "./native-binary.ts";
import { shippedBinary } from "./shipped-binary.ts";

const key = "the-key-of-its-sources";

interface Shipped {
  readonly folder: string;
  readonly binary: string;
}

function ship(t: TestContext, record: object = {}): Shipped {
  const folder = mkdtempSync(join(tmpdir(), "lathe-shipped-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const binary = join(folder, shippedName(process));
  writeFileSync(binary, "a program", { mode: 0o755 });
  const sha256 = createHash("sha256").update("a program").digest("hex");
  writeFileSync(`${binary}.json`, JSON.stringify({ sources: key, sha256, ...record }));
  return { folder, binary };
}

describe("a shipped launcher", () => {
  it("is used if it was built from these sources", (t) => {
    const { folder, binary } = ship(t);
    assert.equal(shippedBinary(folder, key), binary);
  });

  it("is not used if its sources were different", (t) => {
    const { folder } = ship(t, { sources: "other-sources" });
    assert.equal(shippedBinary(folder, key), undefined);
  });

  it("is not used if a byte of it differs", (t) => {
    const { folder, binary } = ship(t);
    writeFileSync(binary, "a pr0gram");
    assert.equal(shippedBinary(folder, key), undefined);
  });

  it("is not used if other users can write it, or without its record", (t) => {
    const { folder, binary } = ship(t);
    chmodSync(binary, 0o777);
    assert.equal(shippedBinary(folder, key), undefined);
    chmodSync(binary, 0o755);
    writeFileSync(`${binary}.json`, "{");
    assert.equal(shippedBinary(folder, key), undefined);
    rmSync(`${binary}.json`);
    assert.equal(shippedBinary(folder, key), undefined);
  });

  it("is replaced by a compiled one if it cannot be used", async (t) => {
    const { folder } = ship(t, { sources: "other-sources" });
    const cacheFolder = mkdtempSync(join(tmpdir(), "lathe-cache-"));
    t.after(() => rmSync(cacheFolder, { recursive: true }));
    writeFileSync(join(folder, "main.c"), "int main(void) { return 0; }\n");
    const found = await nativeBinary({ cacheFolder, path: "", sourceFolder: folder });
    assert.ok("why" in found, "there is no compiler on an empty path");
  });
});
