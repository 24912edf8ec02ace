/** Tests reading JSON lines in any pieces, and the limit on their length. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { boundedLines, jsonLines, type TooLong } from "./json-lines.ts";

async function* inPieces(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function all<T>(lines: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const some of lines) found.push(...some);
  return found;
}

const texts = fc.array(fc.string({ unit: "binary" }).map((text) => text.replaceAll("\n", "\u2028")));
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });

it("yields whole lines, whatever pieces they arrive in, and a last one without a line break", async () => {
  await fc.assert(
    fc.asyncProperty(texts, sizes, fc.boolean(), async (lines, cut, hasEnd) => {
      const bytes = Buffer.from(lines.join("\n") + (hasEnd ? "\n" : ""));
      const written = lines.map((line) =>
        Buffer.from(line)
          .toString("utf8")
          .replace(/^\ufeff/, ""),
      );
      const solid = written.filter((line) => line.trim() !== "");
      assert.deepEqual(await all(jsonLines(inPieces(bytes, cut))), solid);
    }),
  );
});

it("reports only the length of a line that is too long, and reads the next ones", async () => {
  await fc.assert(
    fc.asyncProperty(texts, sizes, async (lines, cut) => {
      const most = 6;
      const expected = lines.flatMap((line): readonly (string | TooLong)[] => {
        const bytes = Buffer.from(line);
        const text = bytes.toString("utf8").replace(/^\ufeff/, "");
        if (bytes.length > most) return [{ bytes: bytes.length }];
        return text.trim() === "" ? [] : [text];
      });
      const found = await all(boundedLines(inPieces(Buffer.from(lines.join("\n")), cut), most));
      assert.deepEqual(found, expected);
    }),
  );
});
