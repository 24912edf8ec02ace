import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import {
  type CompactionWhy,
  emptySession,
  type Message,
  type ModelInfo,
  type Session,
  shortenParts,
  type ToolResultPart,
} from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { assemble, estimateTokens } from "../assemble.ts";
import { contextExcess } from "../excess.ts";
import { shorten, type WholeTexts } from "./shorten.ts";

const info: ModelInfo = { id: "a/claude-5", window: 100_000, maxOutput: 8_000 };
const long = (word: string, lines = 300): string =>
  Array.from({ length: lines }, (_, at) => `${word} says something in line ${at}`).join("\n");

function memory(): WholeTexts & { readonly all: Map<string, string> } {
  const all = new Map<string, string>();
  return {
    all,
    read: async (blob) => all.get(blob),
    store: async (text) => {
      const blob = createHash("sha256").update(text).digest("hex");
      all.set(blob, text);
      return blob;
    },
  };
}

interface Call {
  readonly tool: string;
  readonly input: unknown;
  readonly result: Partial<ToolResultPart>;
}

/** One call per answer, after the user's message. */
function sessionOf(
  calls: readonly Call[],
  words: Message["parts"] = [{ type: "text", text: "do it" }],
): Session {
  const messages = calls.flatMap(({ tool, input, result }, at): readonly Message[] => {
    const id = `c${at}`;
    const part: ToolResultPart = { type: "tool-result", id, tool, text: "", failed: false, ...result };
    return [
      { role: "assistant", parts: [{ type: "tool-call", id, tool, input: JSON.stringify(input) }] },
      { role: "tool", parts: [part] },
    ];
  });
  const user = { role: "user", parts: words } as Extract<Message, { role: "user" }>;
  return { ...emptySession, id: "s", cwd: "/w", model: info.id, messages: [user, ...messages] };
}

async function short(session: Session, why: CompactionWhy = "window", texts = memory()): Promise<Session> {
  const parts = await shorten(session, { info, why }, texts);
  return { ...session, messages: shortenParts(session.messages, { parts }) };
}

const textAt = ({ messages }: Session, call: number): string => {
  const [part] = messages[call * 2 + 2]?.parts ?? [];
  return part?.type === "tool-result" ? part.text : "";
};
const numbered = (from: number, to: number): string =>
  Array.from(
    { length: to - from + 1 },
    (_, at) => `${from + at}\tconst value${from + at} = compute(${from + at});`,
  ).join("\n");
const read = (path: string, text: string): Call => ({ tool: "read", input: { path }, result: { text } });
const filler = Array.from({ length: 6 }, (_, at): Call => {
  return { tool: "shell", input: { command: `show ${at}` }, result: { text: long(`filler ${at}`) } };
});

describe("old results", () => {
  it("become a few words with a link to the whole; the latest stay", async () => {
    const texts = memory();
    const before = sessionOf([{ tool: "shell", input: {}, result: { text: long("first") } }, ...filler]);
    const after = await short(before, "window", texts);
    assert.match(
      textAt(after, 0),
      /^\[shortened: 300 lines, \d+ characters; the whole: read or grep path "blob:/,
    );
    const [handle = ""] = /[0-9a-f]{64}/.exec(textAt(after, 0)) ?? [];
    assert.equal(texts.all.get(handle), long("first"));
    assert.equal(textAt(after, 6), textAt(before, 6));
  });

  it("become references if they came again, or their lines were read again unchanged", async () => {
    const again = { tool: "shell", input: { command: "x" }, result: { text: long("again") } };
    const after = await short(
      sessionOf([again, read("a.ts", numbered(1, 60)), read("a.ts", numbered(1, 200)), again, ...filler]),
    );
    assert.equal(textAt(after, 0), "[the same result came again later]");
    assert.equal(textAt(after, 1), "[a.ts: these lines were read again later, unchanged]");
    assert.match(textAt(after, 2), /a\.ts: lines 1 to 200 were shown/);
  });

  it("keep instructions word for word", async () => {
    const text = `1\t# Rules\n${long("2\t- a rule that", 200)}`;
    assert.equal(textAt(await short(sessionOf([read("pkg/AGENTS.md", text), ...filler])), 0), text);
  });

  it("keep a person's answers word for word", async () => {
    const said = long("use the port that", 200);
    const answer = { tool: "ask_user", input: { question: "Which?" }, result: { text: said, said } };
    assert.equal(textAt(await short(sessionOf([answer, ...filler])), 0), said);
  });

  it("keep how they ended, and remarks about it", async () => {
    const texts = memory();
    const node = `✖ keeps it (1ms)\n  TypeError: no\nℹ tests 9\n${long("log")}`;
    const blob = await texts.store(node);
    const ended = "Interrupted (command-timeout): The command was stopped after 1 s.";
    const notes = ["[exit code 1]", "[kept from it by the sandbox: write /etc/hosts]"];
    const running = "[still running in the background as process p3]";
    const results: readonly Partial<ToolResultPart>[] = [
      { text: `${ended}\n${node.slice(0, 8_000)}`, failed: true, ...(blob !== undefined && { blob }) },
      { text: [node, ...notes].join("\n") },
      { text: [long("log"), running].join("\n") },
      { text: `${node}\n[1, 2]\nInterrupted (by): words` },
    ];
    let session = sessionOf([...results.map((result) => ({ tool: "shell", input: {}, result })), ...filler]);
    for (const _ of ["once", "twice"]) {
      session = await short(session, "window", texts);
      const [interrupted = "", failing = "", background = "", plain = ""] = [0, 1, 2, 3].map((at) =>
        textAt(session, at),
      );
      assert.ok(interrupted.includes(`blob:${blob}`) && interrupted.includes(`\n${ended}\n`), interrupted);
      assert.ok(failing.includes(`\n${notes.join("\n")}\n`), failing);
      assert.ok(background.split(running).length === 2, background);
      assert.doesNotMatch(plain, /Interrupted|\[1, 2\]/);
    }
  });

  it("stay whole if the whole cannot be stored", async () => {
    const session = sessionOf([{ tool: "shell", input: {}, result: { text: long("first") } }, ...filler]);
    const full: WholeTexts = { read: async () => undefined, store: async () => undefined };
    assert.deepEqual((await short(session, "window", { ...memory(), ...full })).messages, session.messages);
  });

  it("lose their images, and those of the user, if there are too many", async () => {
    const image = { type: "image", mediaType: "image/png", base64: "A".repeat(1_000_000) } as const;
    const picture = {
      tool: "read",
      input: { path: "a.png" },
      result: { text: "a.png: image/png", images: [image] },
    };
    const session = sessionOf(Array(14).fill(picture), [{ type: "text", text: "look" }, image]);
    const measured = (one: Session) => ({ session: one, info, request: assemble(one, info), input: 1 });
    assert.equal(contextExcess(measured(session))?.why, "images");
    const after = await short(session, "images");
    assert.equal(contextExcess(measured(after)), undefined);
    assert.match(textAt(after, 0), /image \(image\/png\) was shown here[\s\S]*a\.png/);
    assert.deepEqual(after.messages[0]?.parts[1], {
      type: "text",
      text: "[an image (image/png) was shown here]",
    });
    assert.match(JSON.stringify(after.messages.at(-1)), /AAAA/, "the latest is still shown");
  });

  it("keep images that the model has not seen yet, as many as a request takes", async () => {
    const image = (chars: number) =>
      ({ type: "image", mediaType: "image/png", base64: "A".repeat(chars) }) as const;
    const old = sessionOf([filler[0] ?? assert.fail()], [{ type: "text", text: "look" }, image(3_000_000)]);
    const said = (count: number, chars: number) => ({
      ...old,
      messages: [
        ...old.messages,
        { role: "assistant", parts: [{ type: "text", text: "ok" }] } as const,
        { role: "user", parts: Array.from({ length: count }, () => image(chars)) } as const,
      ],
    });
    const images = async (session: Session): Promise<readonly number[]> => {
      const { messages } = await short(session, "images");
      const count = ({ parts }: { readonly parts: readonly { readonly type: string }[] } = { parts: [] }) =>
        parts.filter(({ type }) => type === "image").length;
      return [count(messages[0]), count(messages.at(-1))];
    };
    assert.deepEqual(await images(said(19, 100)), [0, 19]);
    assert.deepEqual(await images(said(3, 3_800_000)), [0, 3]);
    assert.deepEqual(await images(said(2, 100)), [1, 2], "with what was seen, where there is room");
    const most = await short(said(30, 100), "images");
    assert.match(JSON.stringify(most.messages.at(-1)), /came here and was not sent: too many or too large/);
  });

  it("are cut if they do not fit by themselves, so that part of them can be read", async () => {
    const after = await short(sessionOf([read("big.ts", numbered(1, 9_000))]));
    assert.match(textAt(after, 0), /^1\tconst/);
    assert.match(textAt(after, 0), /no more fits into the window; read or grep path "blob:/);
    assert.ok(estimateTokens(assemble(after, info)) < info.window);
  });
});

it("never lengthens anything, changes no person's words, and ends: short texts stay", () => {
  const call = fc.record({
    tool: fc.constantFrom("shell", "read", "grep", "edit"),
    input: fc.record({ path: fc.constantFrom("a.ts", "b.ts", "AGENTS.md") }),
    result: fc.record({
      text: fc.oneof(
        fc.string({ maxLength: 3_000 }),
        fc.integer({ min: 1, max: 900 }).map((lines) => long("x", lines)),
        fc.integer({ min: 1, max: 300 }).map((to) => numbered(1, to)),
      ),
    }),
  });
  return fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 25 }), async (calls) => {
      const texts = memory();
      let session = sessionOf(calls);
      for (let round = 0; round < 4; round++) {
        const next = await short(session, "window", texts);
        assert.ok(estimateTokens(assemble(next, info)) <= estimateTokens(assemble(session, info)));
        next.messages.forEach((message, at) => {
          if (message.role !== "tool") assert.equal(message, session.messages[at]);
        });
        session = next;
      }
      assert.deepEqual((await short(session, "window", texts)).messages, session.messages);
    }),
    { numRuns: 60 },
  );
});
