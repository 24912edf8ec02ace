import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { it } from "node:test";
import { type Event, type Failure, failure } from "@lathe/protocol";
import { Questioner } from "./questioner.ts";

function asked(call: string): Event {
  const data = { call, kind: "permission", text: `${call} wants to`, options: ["allow", "deny"] } as const;
  return { v: 1, session: "s", seq: 1, parent: 0, at: 0, type: "question.asked", data };
}

interface Asking {
  readonly input: PassThrough;
  readonly questioner: Questioner;
  /** What was said to the session, as far as it is known when `count` things were. */
  heard(count: number): Promise<readonly string[]>;
  /** Resolves with all that was shown when typing counts for the question of that number. */
  ready(count: number): Promise<string>;
}

/** A session that hears, or refuses to as often as it has refusals. */
function asking(refusals: readonly Failure[] = []): Asking {
  const [input, output] = [new PassThrough(), new PassThrough({ encoding: "utf8" })];
  const questioner = new Questioner(input, output);
  const said: string[] = [];
  const left = [...refusals];
  const listeners = new Set<() => void>();
  const look = (): void => {
    for (const listener of listeners) listener();
  };
  let shown = "";
  output.on("data", (text: string) => {
    shown += text;
    look();
  });
  const hear = async (text: string): Promise<Failure | undefined> => {
    said.push(text);
    setImmediate(look);
    return left.shift();
  };
  questioner.attach({
    answer: (call, _question, answer) => hear(`${call}: ${answer}`),
    cancel: (by) => hear(`cancel: ${by}`),
    askedCall: async () => undefined,
  });
  const until = (isSo: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const listener = (): void => {
        if (!isSo()) return;
        listeners.delete(listener);
        resolve();
      };
      listeners.add(listener);
      listener();
    });
  return {
    input,
    questioner,
    heard: async (count) => {
      await until(() => said.length >= count);
      return said;
    },
    ready: async (count) => {
      await until(() => shown.split("> ").length > count);
      return shown;
    },
  };
}

it("asks one question after the other", async () => {
  const { input, questioner, heard, ready } = asking();
  questioner.event(asked("a"));
  questioner.event(asked("b"));
  await ready(1);
  input.write("y\n");
  await ready(2);
  input.write("rather not\n");
  assert.deepEqual(await heard(2), ["a: allow", "b: rather not"]);
  assert.equal(questioner.unanswered, undefined);
  questioner.close();
});

it("takes nothing for an answer that was typed before the question could be read", async () => {
  const { input, questioner, heard, ready } = asking();
  input.write("y\n");
  questioner.event(asked("a"));
  input.write("y\ny");
  await ready(1);
  input.write("n\n");
  assert.deepEqual(await heard(1), ["a: deny"]);
  questioner.close();
});

it("takes the lines of one paste for one answer", async () => {
  const { input, questioner, heard, ready } = asking();
  questioner.event(asked("a"));
  questioner.event(asked("b"));
  await ready(1);
  input.write("not this\n");
  input.write("y\n");
  await ready(2);
  input.write("OK\n");
  assert.deepEqual(await heard(2), ["a: not this\ny", "b: allow"]);
  questioner.close();
});

it("denies what is open and ends the turn when the input ends", async () => {
  const { input, questioner, heard } = asking();
  questioner.event(asked("a"));
  questioner.event(asked("b"));
  input.end();
  assert.deepEqual(await heard(3), ["a: deny", "b: deny", "cancel: the end of the input"]);
  assert.equal(questioner.unanswered, "a wants to");
});

it("asks again when the answer could not be kept", async () => {
  const { input, questioner, heard, ready } = asking([failure("disk-full", "the disk is full")]);
  questioner.event(asked("a"));
  await ready(1);
  input.write("y\n");
  await ready(2);
  input.write("y\n");
  assert.deepEqual(await heard(2), ["a: allow", "a: allow"]);
  questioner.close();
});
