/**
 * Tests the bound of an attempt's input: never too low, and soon not much too high, however a provider
 * counts.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emptySession, fold, type Message, type ModelRequest, type Session } from "@lathe/protocol";
import { fc } from "@lathe/testkit/properties";
import { openBench, run, say } from "../bench.test.ts";
import { printOf } from "./fingerprint.ts";
import { inputBound } from "./input-bound.ts";

/** Ways in which providers count a text: a sum over its characters, in tokens. */
const counts: Readonly<Record<string, (text: string) => number>> = {
  "four characters a token": (text) => text.length / 4,
  "two and a half": (text) => text.length / 2.5,
  "each digit alone": (text) => text.length / 4 + (text.match(/\d/g)?.length ?? 0) * 0.75,
  "twice what is estimated": (text) => (text.length / 3) * 2,
};

/** As in the context package: for some providers, each digit is a token. */
const estimate = ({ system, messages }: ModelRequest): number => {
  const text = [system, ...messages.map((one) => JSON.stringify(one))].join("");
  return Math.ceil((text.length + 2 * (text.match(/\d/g)?.length ?? 0)) / 3);
};

interface Run {
  readonly bounds: readonly number[];
  readonly inputs: readonly number[];
}

/** A session that grows by these texts, and the provider's counts. */
function play(texts: readonly string[], count: (text: string) => number): Run {
  let session: Session = {
    ...emptySession,
    turn: { startedAt: 0, steps: 0, failures: 0, modelFailures: 0, waitedMs: 0, cut: 0 },
  };
  const messages: Message[] = [];
  const bounds: number[] = [];
  const inputs: number[] = [];
  const model = "a/b";
  texts.forEach((text, at) => {
    messages.push({ role: "user", parts: [{ type: "text", text }] });
    const request = {
      system: "s".repeat(4000),
      tools: [],
      messages: [...messages],
      cacheMarks: [],
      maxOutputTokens: 1,
      cacheKey: "",
    };
    const sent = { ...printOf(session, model, request), estimate: estimate(request) };
    bounds.push(inputBound(session, model, sent));
    const input = Math.ceil(
      count(request.system) + messages.reduce((sum, one) => sum + count(JSON.stringify(one)), 0),
    );
    inputs.push(input);
    const usage = { input, cached: 0, written: 0, output: 0, reasoning: 0 };
    const attempt = `a${at}`;
    const place = { v: 1, session: "s", at };
    const head = session.head;
    session = fold(
      [
        { ...place, seq: head + 1, parent: head, type: "step.started", data: { attempt, model, sent } },
        {
          ...place,
          seq: head + 2,
          parent: head + 1,
          type: "step.completed",
          data: { attempt, model, reason: "tool-calls", parts: [], usage, firstMs: 0, ms: 0 },
        },
      ],
      session,
    );
  });
  return { bounds, inputs };
}

const textOf = (pieces: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...pieces), fc.integer({ min: 1, max: 400 }))
    .map(([piece, times]) => piece.repeat(times));
const words = ["plain words of code ", "a", "if (x) { return; }"];

describe("the bound of an attempt's input", () => {
  for (const [name, count] of Object.entries(counts)) {
    it(`holds from the second request on, and is close: ${name}`, () => {
      // If a provider counts more than the estimate, that is known only for texts like those seen before.
      const covered = count("abc") <= 1;
      const text = textOf(covered ? [...words, "1234567890"] : words);
      fc.assert(
        fc.property(fc.array(text, { minLength: 2, maxLength: 30 }), (texts) => {
          const { bounds, inputs } = play(texts, count);
          inputs.forEach((input, at) => {
            const bound = bounds[at] ?? 0;
            if (at > 0) assert.ok(bound >= input, `${at}: ${bound} < ${input}`);
            const before = inputs[at - 1] ?? 0;
            if (at > 0) assert.ok(bound - before <= 6 * (input - before) + 64);
          });
        }),
      );
    });
  }

  it("holds in realistic sessions", async () => {
    const bench = openBench({
      script: (request, at) => ({
        calls: at < 20 ? [say(`step ${at} ${"x".repeat(at * 50)}`)] : [],
        usage: {
          input: Math.ceil(JSON.stringify(request).length / 2),
          cached: 0,
          written: 0,
          output: 9,
          reasoning: 0,
        },
      }),
    });
    const session = await run({ ...bench, ports: { ...bench.ports, estimate } });
    assert.deepEqual(session.lastEnd, { type: "done" });
    const reserved = bench.events.flatMap((event) =>
      event.type === "budget.reserved" ? [event.data.tokens] : [],
    );
    const used = bench.events.flatMap((event) =>
      event.type === "budget.settled" ? [event.data.tokens] : [],
    );
    assert.equal(used.length, 21);
    used.slice(1).forEach((tokens, at) => {
      assert.ok(tokens <= (reserved[at + 1] ?? 0));
    });
  });
});
