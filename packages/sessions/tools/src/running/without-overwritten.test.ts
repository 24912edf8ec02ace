import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { withoutOverwritten } from "./without-overwritten.ts";

const bar = ["10 %", "50 %", "90 %", "100 %"].join("\r");
const last = "100 % [written over 3 times: `| tr '\\r' '\\n'` shows the earlier states]";

describe("a line that was overwritten", () => {
  it("shows its last text, however it ends", () => {
    assert.equal(withoutOverwritten(`a\n${bar}\nb`), `a\n${last}\nb`);
    assert.equal(withoutOverwritten(`${bar}\r\n`), `${last}\n`);
    assert.equal(withoutOverwritten(`\r${bar}\r      \r`), last);
  });

  it("and other text stay as they are", () => {
    for (const text of ["", "a\r\nb\r\n", "a\rb\rc", "\r\r\r\r\r\n", "  \r \r  \rx"]) {
      assert.equal(withoutOverwritten(text), text);
    }
    fc.assert(
      fc.property(fc.array(fc.string()), (lines) => {
        const text = lines.map((line) => line.replaceAll("\r", "")).join("\r\n");
        assert.equal(withoutOverwritten(text), text);
      }),
    );
  });
});
