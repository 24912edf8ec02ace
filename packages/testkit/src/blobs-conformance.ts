/** Tests that every adapter of the blobs port must pass. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import type { Blobs } from "@lathe/protocol";
import { fc } from "#properties";
import { failedWith, succeeded } from "./session-drafts.ts";

export function blobsConformance(name: string, makeBlobs: () => Blobs): void {
  describe(`${name} stores blobs`, () => {
    it("returns any text under its sha256", async () => {
      const blobs = makeBlobs();
      const property = fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        assert.equal(succeeded(await blobs.put(text, { durable: false })), succeeded(await blobs.put(text)));
        const hash = succeeded(await blobs.put(text));
        assert.equal(hash, createHash("sha256").update(text).digest("hex"));
        assert.equal(await blobs.get(hash), text);
      });
      await fc.assert(property, { numRuns: 20 });
    });

    it("accepts the same text again, also concurrently, and large texts", async () => {
      const blobs = makeBlobs();
      const text = "line\n".repeat(400_000);
      const [hash, ...others] = await Promise.all([blobs.put(text), blobs.put(text), blobs.put(text)]);
      assert.deepEqual(others, [hash, hash]);
      assert.equal(await blobs.get(succeeded(hash)), text);
    });

    it("reports a missing blob", async () => {
      const blobs = makeBlobs();
      for (const hash of ["0".repeat(64), "", "../../etc/passwd", "A".repeat(64)])
        failedWith("not-found", await blobs.get(hash));
    });
  });
}
