import assert from "node:assert/strict";
import { it } from "node:test";
import { withoutBinary } from "./without-binary.ts";

const bytes = "\u007fELF\u0002\u0001\u0001\0\0\0\ufffd\ufffd\ufffd\u0003>\0\0\0";

it("counts binary output, and shows the text around it", () => {
  const text = withoutBinary(`before\n${bytes}\nx\n${bytes}\nafter it\n`);
  const hidden = bytes.length * 2 + 2;
  assert.equal(
    text,
    `before\n[${hidden} characters of binary output not shown: look at it with \`file\` or \`xxd\`]\nafter it\n`,
  );
});

it("leaves text unchanged: coloured, in another encoding, or with a bell", () => {
  for (const text of [
    "",
    "plain\n",
    "\u001b[31mred\u001b[0m\n",
    "caf\ufffd au lait, na\ufffdve\n",
    "ding\u0007\n",
    "日本語\n",
  ]) {
    assert.equal(withoutBinary(text), text);
  }
});
