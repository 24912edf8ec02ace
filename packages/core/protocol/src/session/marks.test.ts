/** Tests rewinding a conversation, and undoing that. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Draft, Event } from "../event.ts";
import { failure } from "../failure.ts";
import { emptySession, fold } from "../fold.ts";
import { messageText } from "../message.ts";
import type { Session } from "./session.ts";

function session(drafts: readonly Draft[], from: Session = emptySession): Session {
  return drafts.reduce((before, draft) => {
    const seq = before.head + 1;
    return fold([{ v: 1, session: "s", seq, parent: seq - 1, at: seq, ...draft } as Event], before);
  }, from);
}

const say = (text: string): Draft => ({
  type: "message.received",
  data: { parts: [{ type: "text", text }] },
});

function step(text: string): Draft[] {
  const parts = [{ type: "text", text }] as const;
  const completed = { attempt: text, model: "m", reason: "tool-calls", parts, firstMs: 0, ms: 0 } as const;
  return [
    { type: "step.started", data: { attempt: text, model: "m" } },
    { type: "step.completed", data: completed },
  ];
}

const end: Draft = { type: "turn.ended", data: { end: { type: "done" } } };
const said = ({ messages }: Session): readonly string[] =>
  messages.map((message) => (message.role === "tool" ? "" : messageText(message.parts)));

const two = session([say("one"), ...step("a"), ...step("b"), end, say("two"), ...step("c"), end]);

function rewound(from: Session, stepNumber: number): Session {
  const to =
    from.marks.findLast((mark) => mark.step === stepNumber)?.seq ?? assert.fail(`no step ${stepNumber}`);
  return session([{ type: "session.rewound", data: { to, undoes: false, conversation: true } }], from);
}

test("there is a mark before every step, and the first of a turn removes its message too", () => {
  assert.deepEqual(
    two.marks.map((mark) => [mark.step, mark.opens]),
    [
      [1, true],
      [2, false],
      [3, true],
    ],
  );
  assert.deepEqual(said(rewound(two, 3)), ["one", "a", "b"]);
  assert.deepEqual(said(rewound(two, 2)), ["one", "a"]);
  assert.deepEqual(said(rewound(two, 1)), []);
});

test("a failed attempt adds no second mark", () => {
  const failed = session([say("one"), ...step("a"), ...step("b").slice(0, 1), ...step("b")]);
  assert.equal(failed.marks.length, 2);
});

test("a rewound conversation continues from there, and can be rewound again", () => {
  const again = session([say("three"), ...step("d")], rewound(two, 2));
  assert.deepEqual(said(again), ["one", "a", "three", "d"]);
  assert.deepEqual(
    again.marks.map((mark) => mark.step),
    [1, 2],
  );
  assert.deepEqual(said(rewound(again, 2)), ["one", "a"]);
});

test("an undo restores everything and is marked as one; old logs in which an undo was undone are read as before", () => {
  const back = rewound(two, 2);
  const undo = (from: Session): Session =>
    session(
      [{ type: "session.rewound", data: { to: from.rewind?.seq ?? 0, undoes: true, conversation: true } }],
      from,
    );
  assert.deepEqual(said(undo(back)), said(two));
  assert.deepEqual([back.rewind?.isUndo, undo(back).rewind?.isUndo], [undefined, true]);
  assert.deepEqual(undo(back).marks, two.marks);
  assert.deepEqual(said(undo(undo(back))), said(back));
});

test("a checkpoint is valid for its step until another program had time to change the files", () => {
  const taken = (moment: "before" | "after", ref?: string): Draft => ({
    type: "checkpoint.taken",
    data: { moment, ...(ref ? { ref } : { failure: failure("disk-full", "full") }), skipped: 0, ms: 0 },
  });
  const claim: Draft = {
    type: "session.claimed",
    data: { epoch: 2, owner: { host: "h", pid: 1, startedAt: 1 } },
  };
  const before = session([say("one"), ...step("a"), taken("before", "r1")]);
  assert.equal(before.turn?.covered, 1);
  assert.equal(session([taken("after", "r2")], before).turn?.covered, undefined);
  const claimed = session([claim], before);
  assert.equal(claimed.turn?.covered, undefined);
  const later = session([taken("before", "r3"), taken("before", "r4")], claimed);
  assert.deepEqual(
    later.checkpoints.map(({ ref, unsure }) => [ref, unsure]),
    [
      ["r1", undefined],
      ["r3", true],
      ["r4", undefined],
    ],
  );
  const full = session([taken("before")], before);
  assert.deepEqual([full.uncovered?.code, full.checkpoints.at(-1)?.failure?.text], ["disk-full", "full"]);
  assert.equal(session([claim], full).uncovered, undefined);
});

test("a rewind of files alone keeps the conversation", () => {
  const data = { to: 0, undoes: false, conversation: false, files: { undo: "u", now: "n" } };
  const files = session([{ type: "session.rewound", data }], two);
  assert.deepEqual(said(files), said(two));
  assert.equal(files.rewind?.conversation, undefined);
  assert.equal(session([say("go on")], files).rewind, undefined, "somebody spoke: it stands");
});
