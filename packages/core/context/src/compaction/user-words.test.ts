import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emptySession, type Message, type Session, shortenParts } from "@lathe/protocol";
import { textTokens } from "../assemble.ts";
import { wordsText } from "./user-words.ts";

const user = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });
const said = (text: string): readonly string[] =>
  [...text.matchAll(/<said>\n([\s\S]*?)\n<\/said>/g)].map(([, words = ""]) => words);
const wordsOf = (session: Pick<Session, "messages" | "compacted">, tokens = 9_000): readonly string[] =>
  said(wordsText(session, tokens));

/** The session after a compaction that summarizes the first `count` messages and removes images. */
function compacted(session: Session, count: number): Session {
  const parts = session.messages.flatMap((message, at) =>
    message.parts.flatMap((part, i) =>
      part.type === "image" ? [{ message: at, part: i, text: "[an image was shown here]" }] : [],
    ),
  );
  const summary = { messages: count, text: '<notice from="harness">summed up' };
  return {
    ...session,
    messages: shortenParts(session.messages, { parts, summary }),
    compacted: [...session.compacted, { seq: session.compacted.length, messages: session.messages }],
  };
}
const saying = (session: Session, ...texts: readonly string[]): Session => ({
  ...session,
  messages: [...session.messages, ...texts.map(user)],
});

describe("the user's words", () => {
  it("are in order, with repetitions", () => {
    const ports = ["use port 3000", "no: 4000", "use port 3000"];
    assert.deepEqual(wordsOf(saying(emptySession, ...ports)), ports);
    const once = saying(compacted(saying(emptySession, ...ports), 1), "go on");
    assert.deepEqual(wordsOf(once), [...ports, "go on"]);
    const twice = saying(compacted(compacted(once, 3), 1), "use port 3000");
    assert.deepEqual(wordsOf(twice), [...ports, "go on", "use port 3000"]);
  });

  it("appear once, even if one of their images was removed", () => {
    const image = { type: "image", mediaType: "image/png", base64: "AA" } as const;
    const shown: Message = { role: "user", parts: [{ type: "text", text: "like this" }, image] };
    const session = saying({ ...emptySession, messages: [user("draw it"), shown] }, "in red");
    assert.deepEqual(wordsOf(saying(compacted(session, 1), "now")), [
      "draw it",
      "like this",
      "in red",
      "now",
    ]);
  });

  it("include answers and the words of a deny, with the question", () => {
    const calls = [
      { type: "tool-call", id: "q", tool: "ask_user", input: '{"question":"Which database?"}' },
      { type: "tool-call", id: "n", tool: "shell", input: '{"command":"npm i"}' },
    ] as const;
    const results = [
      { type: "tool-result", id: "q", tool: "ask_user", text: "MariaDB", failed: false, said: "MariaDB" },
      { type: "tool-result", id: "n", tool: "shell", text: "no: pnpm", failed: true, said: "use pnpm" },
      { type: "tool-result", id: "o", tool: "shell", text: "ok", failed: false },
    ] as const;
    const messages: readonly Message[] = [
      user("begin"),
      { role: "assistant", parts: calls },
      { role: "tool", parts: results },
    ];
    const session = compacted({ ...emptySession, messages }, 1);
    assert.deepEqual(wordsOf(saying(session, "go on")), [
      "begin",
      '[answering ask_user {"question":"Which database?"}]\nMariaDB',
      '[refusing shell {"command":"npm i"}]\nuse pnpm',
      "go on",
    ]);
  });

  it("fit into the available room: long ones lose their middle, the oldest but the first are dropped", () => {
    const long = `FIRST ${"pasted words ".repeat(3_000)} LAST`;
    const texts = ["never touch x.c", long, "😀".repeat(4_000), "and now y.c"];
    const text = wordsText(saying(emptySession, ...texts), 1_300);
    assert.ok(textTokens(text) < 1_600, `${textTokens(text)}`);
    assert.match(text, /touch x\.c\n<[\s\S]*FIRST [\s\S]*characters left out[\s\S]* LAST\n[\s\S]*now y\.c/);
    assert.ok(text.isWellFormed());
    const many = Array.from({ length: 400 }, (_, at) => `do number ${at} ${"of it ".repeat(40)}`);
    const some = wordsText(saying(emptySession, ...many), 1_300);
    assert.ok(textTokens(some) < 1_800, `${textTokens(some)}`);
    assert.match(
      some,
      /do number 0 [\s\S]*\[\.\.\. 3\d\d messages left out \.\.\.\]\n<said>[\s\S]*do number 399 /,
    );
    assert.equal(wordsText(emptySession, 100), "");
  });
});
