/** What the sandbox kept a command from: granted it runs again, and otherwise its outcome stands. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Effect, failure, fold, isFailure, outcomeText, type Rule } from "@lathe/protocol";
import type { BenchTool } from "../bench.test.ts";
import { answerTo, type Bench, begin, benches, reclaim, run, types, until, unwrap } from "../bench.test.ts";
import { drive } from "../drive.ts";

const host: Effect = { kind: "network", target: "example.com" };
const inside: Effect = { kind: "write", target: "src/a.ts" };
const data: Effect = { kind: "write", target: "/data" };
const asking = {
  verdict: "ask",
  rule: "sandbox",
  why: "the sandbox keeps the command from: write /data",
} as const;

/** Writes to `/data`, which needs a grant. */
const save: BenchTool = {
  name: "save",
  effects: () => [{ kind: "execute", target: "save" }],
  run: (_input, context, { done }) => {
    const isGranted = context.grants.some(({ target }) => target === "/data");
    done.push(isGranted ? "saved" : "tried");
    return isGranted
      ? { type: "ok", text: "saved" }
      : { type: "ok", text: "EROFS /data", facts: { exitCode: 1, denied: [data] } };
  },
};

const other: Effect = { kind: "read", target: "/other" };
const outside = { verdict: "ask", rule: "read-outside", why: "/other lies outside" } as const;

/** Reads below `/other`, which needs a grant. */
const look: BenchTool = {
  name: "look",
  effects: () => [other],
  run: (_input, { grants }) =>
    grants.length > 0
      ? { type: "ok", text: "seen" }
      : { type: "ok", text: "it lies outside", facts: { denied: [other] } },
};

const twice = [
  { calls: [{ tool: "save", input: {} }] },
  { calls: [{ tool: "save", input: {} }] },
  { text: "ok" },
];
const once = [{ calls: [{ tool: "save", input: {} }] }, { text: "ok" }];

const again = "\n[the sandbox had stopped it first; this is a second run, with what was granted]";

function results(bench: Bench): readonly string[] {
  return bench.events.flatMap(({ type, data: one }) =>
    type === "tool.completed" ? [outcomeText(one.outcome)] : [],
  );
}

async function answering(bench: Bench, answers: readonly string[]): Promise<void> {
  for (const [i, answer] of answers.entries()) {
    const asked = () =>
      bench.events.flatMap(({ type, data: one }) => (type === "question.asked" ? [one] : []));
    await until(() => asked().length > i);
    const call = asked()[i]?.call ?? assert.fail();
    await answerTo(bench, call, answer);
  }
}

for (const { name, openBench } of benches) {
  describe(`a command the sandbox stopped, ${name}`, () => {
    it("runs again where a rule grants it", async () => {
      const bench = openBench({ script: once, tools: [save] });
      assert.deepEqual((await run(bench)).lastEnd, { type: "done" });
      assert.deepEqual(
        bench.done.filter((one) => one !== "checkpoint"),
        ["tried", "saved"],
      );
      assert.deepEqual(results(bench), [`saved${again}`]);
    });

    it("runs again when a person says so, for this one call", async () => {
      const options = {
        script: twice,
        tools: [save],
        decideGrant: () => asking,
        settings: { attended: true },
      };
      const bench = openBench(options);
      const running = run(bench);
      await answering(bench, ["allow", "use the database"]);
      assert.deepEqual((await running).grants, []);
      const [first, second = ""] = results(bench);
      assert.equal(first, `saved${again}`);
      assert.match(second, /^EROFS .data\n\[not granted: denied by user: use the database\]$/);
    });

    it("runs like all that follow when a person says so for the session", async () => {
      const options = {
        script: twice,
        tools: [save],
        decideGrant: () => asking,
        settings: { attended: true },
      };
      const bench = openBench(options);
      const running = run(bench);
      await answering(bench, ["allow for this session"]);
      assert.deepEqual((await running).grants, [data]);
      assert.deepEqual(
        bench.done.filter((one) => one !== "checkpoint"),
        ["tried", "saved", "saved"],
      );
    });

    it("runs like all that follow when a person says so for the project, and what was shown is kept", async () => {
      const kept: Rule[] = [];
      const rules = [{ name: "always", verdict: "allow", kinds: ["write"], target: "/data/**" }] as const;
      const bench = openBench({
        script: twice,
        tools: [save],
        decideGrant: () => asking,
        propose: () => rules,
        keep: async (news) => void kept.push(...news),
        settings: { attended: true },
      });
      const running = run(bench);
      await answering(bench, ["allow for this project"]);
      assert.deepEqual((await running).grants, [data]);
      assert.deepEqual(kept, rules);
      const asked = bench.events.filter(({ type }) => type === "question.asked");
      assert.deepEqual(
        asked.map(({ data: one }) => "rules" in one && one.rules),
        [rules],
      );
    });

    it("is asked for where it only reads, and is not told of a second run", async () => {
      const bench = openBench({
        script: [{ calls: [{ tool: "look", input: {} }] }, { text: "ok" }],
        tools: [look],
        decideGrant: () => outside,
        settings: { attended: true },
      });
      const running = run(bench);
      await answering(bench, ["allow for this session"]);
      assert.deepEqual((await running).grants, [other]);
      assert.deepEqual(results(bench), ["seen"]);
      const asked = bench.events.find(({ type }) => type === "question.asked");
      assert.match(JSON.stringify(asked), /look wants to read \/other: \/other lies outside/);
    });

    it("is answered with the question beside it that asks for no more, by an answer for the session alone", async () => {
      const rules = [{ name: "always", verdict: "allow", kinds: ["read"], target: "/other/**" }] as const;
      const two = { calls: [1, 2].map((input) => ({ tool: "look", input })) };
      const opened = (): Bench =>
        openBench({
          script: [two, { text: "ok" }],
          tools: [look],
          decideGrant: () => outside,
          propose: () => rules,
          settings: { attended: true },
        });
      const bench = opened();
      const running = run(bench);
      await answering(bench, ["allow for this session"]);
      assert.deepEqual((await running).lastEnd, { type: "done" });
      assert.deepEqual(results(bench), ["seen", "seen"]);
      const each = opened();
      const twiceAsked = run(each);
      await answering(each, ["allow", "deny"]);
      await twiceAsked;
      assert.deepEqual(results(each), ["Refused (person): denied by user", "seen"]);
    });

    it("is refused for the session by a no, and what nobody gave is no result", async () => {
      const blind: BenchTool = {
        ...look,
        name: "blind",
        run: () => ({ type: "ok", text: "still outside", facts: { denied: [other] } }),
      };
      const bench = openBench({
        script: [
          { calls: [{ tool: "look", input: {} }] },
          { calls: [{ tool: "blind", input: {} }] },
          { text: "ok" },
        ],
        tools: [look, blind],
        decideGrant: () => outside,
        settings: { attended: true },
      });
      const running = run(bench);
      await answering(bench, ["deny", "allow"]);
      const { refusals } = await running;
      assert.deepEqual(results(bench), [
        "Refused (person): denied by user",
        "Refused (read-outside): still outside",
      ]);
      assert.deepEqual(refusals, [], "the yes has lifted it");
      const refused = bench.events.flatMap(({ type, data: one }) =>
        type === "permission.decided" ? (one.refused ?? []) : [],
      );
      assert.deepEqual(refused, [{ ...other, real: "/other" }]);
    });

    it("stays denied by who said so, whatever follows from another answer at the same time", async () => {
      const rules = [{ name: "always", verdict: "allow", kinds: ["read"], target: "/other/**" }] as const;
      const bench = openBench({
        script: [{ calls: [1, 2].map((input) => ({ tool: "look", input })) }, { text: "ok" }],
        tools: [look],
        decideGrant: () => outside,
        propose: () => rules,
        settings: { attended: true },
      });
      const running = run(bench);
      const asked = () => bench.events.flatMap((event) => (event.type === "question.asked" ? [event] : []));
      await until(() => asked().length === 2);
      const answers = ["allow for this session", "deny"];
      await Promise.all(asked().map(({ data: one }, at) => answerTo(bench, one.call, answers[at] ?? "")));
      await running;
      assert.deepEqual(results(bench).toSorted(), ["Refused (person): denied by user", "seen"]);
    });

    it("ends the run where it looks at a command, which is worth more than reading", async () => {
      const watch: BenchTool = { ...look, name: "watch", effects: () => [] };
      const script = [{ calls: [{ tool: "watch", input: {} }] }, { text: "ok" }];
      const bench = openBench({ script, tools: [watch], decideGrant: () => asking });
      assert.equal((await run(bench)).lastEnd?.type, "permission");
    });

    it("goes on without what it would only read where nobody can be asked", async () => {
      const rules = [{ name: "always", verdict: "allow", kinds: ["read"], target: "/other/**" }] as const;
      const bench = openBench({
        script: [{ calls: [{ tool: "look", input: {} }] }, { text: "ok" }],
        tools: [look],
        decideGrant: () => outside,
        propose: () => rules,
      });
      assert.deepEqual((await run(bench)).lastEnd, { type: "done" });
      assert.deepEqual(results(bench), [
        "Refused (read-outside): /other lies outside, and nobody is there to allow it (--allow 'read:/other/**' would)",
      ]);
    });

    it("is kept for the session where it cannot be kept for the project", async () => {
      const rules = [{ name: "always", verdict: "allow", kinds: ["execute"], target: "save" }] as const;
      const bench = openBench({
        script: once,
        tools: [save],
        decide: () => asking,
        propose: () => rules,
        keep: async () => failure("disk-full", "no room"),
        settings: { attended: true },
      });
      const running = run(bench);
      await answering(bench, ["allow for this project"]);
      assert.deepEqual((await running).rules, rules);
    });

    it("is not allowed for good where nothing was offered", async () => {
      const keep = async (): Promise<undefined> => assert.fail("nothing was shown");
      const bench = openBench({
        script: once,
        tools: [save],
        decide: () => asking,
        keep,
        settings: { attended: true },
      });
      const running = run(bench);
      await answering(bench, ["allow for this project"]);
      assert.deepEqual((await running).rules, []);
      assert.ok(bench.done.includes("saved"));
    });

    it("keeps its outcome where a rule refuses", async () => {
      const decideGrant = () => ({ verdict: "deny", rule: "no", why: "not there" }) as const;
      const bench = openBench({ script: once, tools: [save], decideGrant });
      assert.deepEqual((await run(bench)).lastEnd, { type: "done" });
      assert.deepEqual(results(bench), ["EROFS /data\n[not granted: not there]"]);
    });

    it("is granted nothing by a yes to the command, which the sandbox holds", async () => {
      const reach: BenchTool = {
        name: "reach",
        effects: () => [{ kind: "execute", target: "curl" }, host, data, inside],
        run: (_input, context, { done }) => {
          done.push(context.grants.map(({ target }) => target).join());
          return { type: "ok", text: "" };
        },
      };
      const script = [{ calls: [{ tool: "reach", input: {} }] }, { text: "ok" }];
      const unasked = openBench({ script, tools: [reach] });
      await run(unasked);
      assert.deepEqual(
        unasked.done.filter((one) => one !== "checkpoint"),
        [""],
      );
      const asked = openBench({ script, tools: [reach], decide: () => asking, settings: { attended: true } });
      const running = run(asked);
      await answering(asked, ["allow"]);
      await running;
      assert.deepEqual(
        asked.done.filter((one) => one !== "checkpoint"),
        [""],
      );
    });

    it("gets no more by a later yes than that yes was about", async () => {
      const wide: BenchTool = { ...save, effects: () => [{ kind: "execute", target: "save" }, host] };
      const options = {
        script: once,
        tools: [wide],
        decideGrant: () => asking,
        settings: { attended: true },
      };
      const bench = openBench(options);
      const running = run(bench);
      await until(() => types(bench).includes("question.asked"));
      const before = fold(unwrap(await bench.store.read("s1"))).calls[0];
      assert.deepEqual([before?.grants, before?.denied?.effects], [undefined, [data]]);
      await answering(bench, ["allow"]);
      await running;
      const events = unwrap(await bench.store.read("s1"));
      const decided = events.findLastIndex(({ type }) => type === "permission.decided");
      const state = fold(events.slice(0, decided + 1)).calls[0];
      assert.deepEqual(state?.grants, [data]);
    });

    it("ends the turn where nobody can be asked", async () => {
      const bench = openBench({ script: once, tools: [save], decideGrant: () => asking });
      assert.deepEqual((await run(bench)).lastEnd, { type: "permission", text: asking.why });
    });

    it("is asked about once, also when it is denied the same again", async () => {
      const stubborn: BenchTool = {
        ...save,
        run: (_input, _context, { done }) => {
          done.push("tried");
          return { type: "ok", text: "EROFS", facts: { exitCode: 1, denied: [data] } };
        },
      };
      const bench = openBench({ script: once, tools: [stubborn] });
      await run(bench);
      assert.deepEqual(
        bench.done.filter((one) => one !== "checkpoint"),
        ["tried", "tried"],
      );
      assert.deepEqual(results(bench), [`EROFS${again}`]);
    });

    it("keeps what it did when the turn is cancelled before the answer", async () => {
      const options = {
        script: once,
        tools: [save],
        decideGrant: () => asking,
        settings: { attended: true },
      };
      const bench = openBench(options);
      const running = run(bench);
      await until(() => types(bench).includes("question.asked"));
      await bench.store.offer("s1", { type: "cancel", by: "user" });
      await running;
      assert.deepEqual(results(bench), ["EROFS /data"]);
    });

    it("is not granted by a second answer to the question about the command", async () => {
      const options = {
        script: once,
        tools: [save],
        decide: () => asking,
        decideGrant: () => asking,
        settings: { attended: true },
      };
      const bench = openBench(options);
      const running = run(bench);
      await answering(bench, ["allow"]);
      const questions = () => bench.events.filter(({ type }) => type === "question.asked");
      await until(() => questions().length === 2);
      const [first, second] = questions().map(({ seq }) => seq);
      const late = { type: "answer", call: "c0.0", answer: "allow", by: "another terminal" } as const;
      await bench.store.offer("s1", { ...late, question: first ?? 0 });
      await bench.store.offer("s1", { ...late, question: second ?? 0, answer: "deny" });
      await running;
      assert.deepEqual(results(bench), ["EROFS /data\n[not granted: denied by another terminal]"]);
      assert.equal(types(bench).filter((type) => type === "question.answered").length, 2);
    });

    it("goes on with the question after its owner died", async () => {
      const options = {
        script: once,
        tools: [save],
        decideGrant: () => asking,
        settings: { attended: true },
      };
      const bench = openBench(options);
      const log = await begin(bench);
      const first = drive(log, fold(unwrap(await bench.store.read("s1"))), bench.ports);
      await until(() => types(bench).includes("question.asked"));
      const again = run(bench, await reclaim(bench));
      const call = fold(unwrap(await bench.store.read("s1"))).calls[0]?.call.id ?? "";
      await answerTo(bench, call, "allow");
      assert.ok(isFailure(await first));
      assert.deepEqual((await again).lastEnd, { type: "done" });
      assert.equal(bench.done.filter((one) => one === "saved").length, 1);
    });
  });
}
