/** Blobs in memory, one part of MemoryStore. */
import { createHash } from "node:crypto";
import { type Blobs, type Failure, failure } from "@lathe/protocol";

export function createMemoryBlobs(fault: () => Failure | undefined): Blobs {
  const texts = new Map<string, string>();
  return {
    async put(text) {
      const fails = fault();
      if (fails) return fails;
      const hash = createHash("sha256").update(text).digest("hex");
      texts.set(hash, Buffer.from(text).toString());
      return hash;
    },
    async get(hash) {
      return texts.get(hash) ?? failure("not-found", `no blob ${hash}`, { who: "store" });
    },
  };
}
