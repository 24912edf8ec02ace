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
}

/** A session that hears, or refuses to as often as it has refusals. */
function asking(refusals: readonly Failure[] = []): Asking {
  const input = new PassThrough();
  const questioner = new Questioner(input, new PassThrough());
  const said: string[] = [];
  const left = [...refusals];
  let listener = (): void => {};
  const hear = async (text: string): Promise<Failure | undefined> => {
    said.push(text);
    setImmediate(() => listener());
    return left.shift();
  };
  questioner.attach({
    answer: (call, answer) => hear(`${call}: ${answer}`),
    cancel: (by) => hear(`cancel: ${by}`),
  });
  const heard = (count: number): Promise<readonly string[]> =>
    new Promise((resolve) => {
      listener = () => {
        if (said.length >= count) resolve(said);
      };
      listener();
    });
  return { input, questioner, heard };
}

it("asks one question after the other", async () => {
  const { input, questioner, heard } = asking();
  questioner.event(asked("a"));
  questioner.event(asked("b"));
  input.write("y\nrather not\n");
  assert.deepEqual(await heard(2), ["a: allow", "b: rather not"]);
  assert.equal(questioner.unanswered, undefined);
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
  const { input, questioner, heard } = asking([failure("disk-full", "the disk is full")]);
  questioner.event(asked("a"));
  input.write("y\n");
  await heard(1);
  input.write("y\n");
  assert.deepEqual(await heard(2), ["a: allow", "a: allow"]);
  questioner.close();
});
