import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { it } from "node:test";
import type { AskedCall } from "@lathe/client";
import { type EditPart, type Event, type Failure, failure } from "@lathe/protocol";
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
function asking(refusals: readonly Failure[] = [], call?: AskedCall): Asking {
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
    answer: (...[id, , answer, part]) => hear(`${id}: ${answer}${part ? ` ${partText(part)}` : ""}`),
    cancel: (by) => hear(`cancel: ${by}`),
    askedCall: async () => call,
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

function partText({ files, words }: EditPart): string {
  const named = files.map(({ path, version, of, taken }) => `${path}@${version} ${taken.join()}/${of}`);
  return [...named, ...(words === undefined ? [] : [words])].join("; ");
}

const hunk = (text: string): string => `@@ -1 +1 @@\n-${text}\n+${text} changed\n`;
const edit: AskedCall = {
  tool: "apply_patch",
  input: "{}",
  effects: [],
  why: "asked",
  hasParts: true,
  files: [
    { path: "a", version: "1", hunks: [hunk("-- x"), hunk("two")] },
    { path: "b", version: "2", hunks: [hunk("three")] },
  ],
};

it("takes the hunks that are named by their numbers, and says which are not there", async () => {
  const { input, questioner, heard, ready } = asking([], edit);
  questioner.event(asked("c"));
  const shown = await ready(1);
  assert.match(shown, / {2}1\. a\n[\s\S]*\n {2}--- x\n {2}\+-- x changed\n {2}2\. a\n[\s\S]* {2}3\. b\n/);
  assert.match(shown, /\[1,3\] some hunks, \[h\]unk by hunk/);
  input.write("1,4\n");
  assert.match(await ready(2), /there is no hunk 4: this edit has 3 hunks, from 1 to 3/);
  input.write("2-1\n");
  assert.match(await ready(3), /there is no range 2-1/);
  input.write("0\n");
  assert.match(await ready(4), /there is no hunk 0/);
  input.write("3, 1-1\n");
  assert.deepEqual(await heard(1), ["c: allow a@1 0/2; b@2 0/1"]);
  questioner.close();
});

it("goes through the hunks one by one, with words for the agent", async () => {
  const { input, questioner, heard, ready } = asking([], edit);
  questioner.event(asked("c"));
  const answers = ["h", "q", "h", "what?", "n", "f", "y", "a", "y", "s", "n", "", "rather not the rest"];
  for (const [at, words] of answers.entries()) {
    await ready(at + 1);
    input.write(`${words}\n`);
  }
  assert.deepEqual(await heard(1), ["c: allow a@1 0/2; b@2 /1; rather not the rest"]);
  const shown = await ready(answers.length);
  assert.equal(shown.split("May apply_patch do this").length, 3, "asked again once it was left");
  assert.match(shown, /Take hunk 1 of 3\? \[y,n,f,s,a,d,q,\?\] > .*y - take it\n/);
  assert.match(shown, /1 of 3 hunks are taken/);
  questioner.close();
});

it("denies and ends the turn where the input ends amid the hunks", async () => {
  const { input, questioner, heard, ready } = asking([], edit);
  questioner.event(asked("c"));
  await ready(1);
  input.write("h\n");
  await ready(2);
  input.end();
  assert.deepEqual(await heard(2), ["c: deny", "cancel: the end of the input"]);
});
