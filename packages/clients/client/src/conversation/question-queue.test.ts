import assert from "node:assert/strict";
import { it } from "node:test";
import {
  allowForSession,
  type CallState,
  type Event,
  type Failure,
  failure,
  type QuestionAnswered,
  type Rule,
} from "@lathe/protocol";
import { QuestionQueue } from "./question-queue.ts";

const rule: Rule = { name: "make", verdict: "allow", kinds: ["execute"], target: "make *" };

function callOf(id: string, seq: number): CallState {
  const call = { type: "tool-call", id, tool: "shell", input: "{}" } as const;
  const options = ["allow", allowForSession, "deny"];
  return { call, effects: [], asked: { seq, kind: "permission", text: id, options, rules: [rule] } };
}

function answeredBy(by: string, call: string, answer: string): Event<"question.answered"> {
  const data = { call, answer, by };
  return { v: 1, session: "s", seq: 9, parent: 0, at: 0, type: "question.answered", data };
}

/** Opens three identical calls in a session that rejects as many answers as there are refusals. */
function asked(refusals: Failure[] = []) {
  const told: string[] = [];
  const sent: string[] = [];
  const session = {
    answer: async (given: { readonly call: string; readonly answer: string; readonly by: string }) => {
      sent.push(`${given.by}: ${given.call} ${given.answer}`);
      return refusals.shift();
    },
    askedCall: async () => undefined,
  };
  const queue = new QuestionQueue(() => session, "terminal", {
    opened: ({ call }) => told.push(`opened ${call}`),
    over: ({ call }, answered?: QuestionAnswered) => told.push(`over ${call} ${answered?.by ?? "ended"}`),
  });
  const calls = ["a", "b", "c"].map((id, at) => callOf(id, 3 - at));
  const update = (open: readonly string[], event?: Event): void =>
    queue.update({ calls: calls.filter(({ call }) => open.includes(call.id)) }, event);
  update(["a", "b", "c"]);
  const take = (): readonly string[] => told.splice(0);
  assert.deepEqual(take(), ["opened c", "opened b", "opened a"]);
  const open = (): readonly string[] => queue.open.map(({ call }) => call);
  return { queue, sent, update, take, open, first: queue.open[0] as (typeof queue.open)[number] };
}

it("settles the matching questions once the log has the lasting answer", async () => {
  const { queue, sent, update, take, open, first } = asked();
  assert.equal(await queue.answer(first, allowForSession), undefined);
  assert.deepEqual([sent, open(), take()], [[`terminal: c ${allowForSession}`], [], []]);
  update(["a", "b"], answeredBy("terminal", "c", allowForSession));
  assert.deepEqual([open(), take()], [[], ["over c terminal"]]);
  update(["a"], answeredBy("terminal", "b", "allow"));
  update([], answeredBy("terminal", "a", "allow"));
  assert.deepEqual([open(), take()], [[], ["over b terminal", "over a terminal"]]);
});

it("asks the remaining questions again if another answer came before the lasting one", async () => {
  const { queue, update, take, open, first } = asked();
  await queue.answer(first, allowForSession);
  update(["a", "b"], answeredBy("editor", "c", "deny"));
  assert.deepEqual([open(), take()], [["b", "a"], ["over c editor"]]);
});

it("keeps a question open if its answer could not be saved", async () => {
  const { queue, open, first } = asked([failure("disk-full", "the disk is full")]);
  const refused = await queue.answer(first, "allow");
  assert.deepEqual([refused?.code, open()], ["disk-full", ["c", "b", "a"]]);
});

it("closes all questions when the turn ends or the session is closed", () => {
  const { update, take, open } = asked();
  update([]);
  assert.deepEqual([open(), take()], [[], ["over c ended", "over b ended", "over a ended"]]);
});
