/** Tests a long session of the real command: facts planted in its outputs survive compaction. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { ContextCompacted, Event } from "@lathe/protocol";
import {
  createPrefixCache,
  startWireServer,
  type WireAnswer,
  type WireRecord,
  type WireServer,
} from "@lathe/testkit";
import { makePlace } from "./in-process.ts";
import type { Place } from "./lathe.ts";

/** The parts of `sessions context --json` that the tests read. */
interface ContextReport {
  readonly tokens: number;
  readonly most: number;
  readonly compactions: number;
  readonly groups: readonly { readonly tokens: number }[];
}

const constraints = [
  "never touch src/vendor/blake.c",
  "keep Node 18 working",
  "no new dependencies",
  "the public name parseLedger stays",
  "answer in Portuguese",
];
const rules = [
  "run make verify-zebra before you answer",
  "indent with three spaces",
  "call no function frobnicate",
];
const task = `Mend the failing tests: ${constraints.join("; ")}.`;

const noise = (at: number): string =>
  Array.from(
    { length: 110 },
    (_, line) => `worker ${at} wrote row ${line} of ${(at + 3) * (line + 7)} to the table`,
  ).join("\n");

/** Large outputs of test runners, each with a failing test, an error type and a location. */
const outputs: readonly (readonly [facts: readonly string[], text: string])[] = [
  ...[0, 1, 2].map((n) => {
    const facts = [`test_heron_${n}`, `Heron${n}Error`, `lib/heron_${n}.py:1${n}`];
    const trace = `Traceback (most recent call last):\n  File "lib/heron_${n}.py", line 1${n}, in run\nHeron${n}Error: bad ${n}`;
    const text = `${noise(n)}\nERROR: test_heron_${n} (tests.Suite.test_heron_${n})\n${trace}\n\nRan 40 tests in 0.1s\n\nFAILED (errors=1)`;
    return [facts, text] as const;
  }),
  ...[0, 1, 2].map((n) => {
    const facts = [`finds otter number ${n}`, `Otter${n}Fault`, `src/otter-${n}.test.ts:2${n}`];
    const trace = `  Otter${n}Fault: it swam away\n      at TestContext.<anonymous> (src/otter-${n}.test.ts:2${n}:5)`;
    const text = `${noise(n + 10)}\n✖ finds otter number ${n} (0.2ms)\n${trace}\nℹ tests 30\nℹ pass 29\nℹ fail 1\n${noise(n + 20)}`;
    return [facts, text] as const;
  }),
  ...[0, 1].map((n) => {
    const facts = [`tests::keeps_weasel_${n}`, `src/weasel_${n}.rs:3${n}`, `weasel ${n} bit back`];
    const trace = `---- tests::keeps_weasel_${n} stdout ----\nthread 'main' panicked at src/weasel_${n}.rs:3${n}:9:\ncalled \`unwrap\` on an error: weasel ${n} bit back`;
    const text = `${noise(n + 30)}\ntest tests::keeps_weasel_${n} ... FAILED\n\nfailures:\n\n${trace}\n\ntest result: FAILED. 9 passed; 1 failed; finished in 0.1s`;
    return [facts, text] as const;
  }),
  ...[0, 1].map((n) => {
    const facts = [`src/lynx${n}.ts:4${n}`, `TS280${n}`, `Lynx${n}Options`];
    const text = `${noise(n + 40)}\nsrc/lynx${n}.ts(4${n},3): error TS280${n}: Cannot find name 'Lynx${n}Options'.\n${noise(n + 50)}`;
    return [facts, text] as const;
  }),
  [
    ["ibis-registry.example", "denied by ibis policy"],
    `${noise(60)}\nERROR: push to ibis-registry.example denied by ibis policy\n${noise(61)}\ndone`,
  ],
];
const planted = outputs.flatMap(([facts]) => facts);
const fillers = 66;

const headings = [
  "Task and constraints",
  "Decisions",
  "State of the work",
  "Files touched",
  "Open failures",
  "Next step",
];
const summary = headings.map((heading) => `## ${heading}\nas it was`).join("\n");

/** Three calls per answer: first the planted outputs, then others, until the window is full. */
function answerAt(step: number): WireAnswer["parts"] {
  const files = [...outputs.keys()].map((at) => `cat out/planted-${at}.txt`);
  const others = Array.from({ length: fillers }, (_, at) => `cat out/other-${at}.txt`);
  const commands = [...files, ...others].slice(step * 3, step * 3 + 3);
  if (commands.length === 0) return [{ type: "text", text: "acabou" }];
  const shell = commands.map((command, at) => {
    return {
      type: "tool-call",
      id: `c${step}-${at}`,
      tool: "shell",
      input: JSON.stringify({ command }),
    } as const;
  });
  const read = { type: "tool-call", id: "rules", tool: "read", input: '{"path":"pkg/AGENTS.md"}' } as const;
  return step === 0 ? [read, ...shell] : shell;
}

const isSummary = ({ text }: WireRecord): boolean => text.includes("You make a summary of a coding agent");

describe("a compacted conversation", () => {
  let place: Place;
  let server: WireServer;
  let id: string;
  let isOver = false;
  before(async () => {
    let step = 0;
    const cache = createPrefixCache({ min: 1024, grain: 1, ttlMs: 300_000, now: Date.now });
    server = await startWireServer((record) => {
      if (isSummary(record)) return { parts: [{ type: "text", text: summary }], usage: cache };
      const parts = isOver ? [{ type: "text", text: "nada" } as const] : (answerAt(step++) ?? []);
      return { parts, usage: cache };
    });
    place = makePlace();
    const providers = { anthropic: { baseUrl: server.url, apiKey: "k" } };
    place.put("../home/.config/lathe/config.json", JSON.stringify({ providers }));
    place.put("AGENTS.md", `# Rules\n- ${rules[0]}\n- ${rules[1]}\n`);
    place.put("pkg/AGENTS.md", `# Rules of pkg\n- ${rules[2]}\n${"- and more of them\n".repeat(40)}`);
    outputs.forEach(([, text], at) => {
      place.put(`out/planted-${at}.txt`, `${text}\n`);
    });
    for (let at = 0; at < fillers; at++) place.put(`out/other-${at}.txt`, `${noise(at + 100)}\n`);
    const model = ["--model", "anthropic/claude-sonnet-5-5"];
    const { code, err } = await place.run(["run", "--no-sandbox", ...model, task]);
    assert.equal(code, 0, err);
    id = JSON.parse((await place.run(["sessions", "list", "--json"])).out)[0].id;
    isOver = true;
  });
  after(async () => {
    place.remove();
    await server.close();
  });

  const eventsOf = async (): Promise<readonly Event[]> =>
    (await place.run(["sessions", "show", id, "--json"])).out
      .trim()
      .split("\n")
      .map((line): Event => JSON.parse(line));
  const lastText = (): string => (server.records.at(-1)?.text ?? "").replaceAll("\\n", "\n");

  it("keeps planted facts, constraints and rules without a model", async () => {
    const events = await eventsOf();
    const done = events.flatMap((event) => (event.type === "context.compacted" ? [event.data] : []));
    assert.ok(done.length >= 2, `${done.length} compactions`);
    assert.ok(!server.records.some(isSummary), "no model was asked");
    const text = lastText();
    for (const one of [...constraints, ...rules]) assert.ok(text.includes(one), `${one} is lost`);
    assert.equal(planted.length + constraints.length + rules.length, 40);
    const lost = planted.filter((fact) => !text.includes(fact));
    assert.ok(lost.length <= 2, `lost: ${lost.join(", ")}`);
    const misses = events.flatMap((event) =>
      event.type === "step.completed" && event.data.cache?.miss ? [event.data.cache.miss.cause] : [],
    );
    assert.ok(
      misses.every((cause) => cause === "compacted"),
      misses.join(),
    );
    assert.ok(misses.length <= done.length);
  });

  it("keeps each full output where the model can read and search it", async () => {
    const handle = /blob:[0-9a-f]{64}/.exec(lastText())?.[0];
    assert.ok(handle);
    const read = await place.run([
      "tool",
      "read",
      "--json",
      JSON.stringify({ path: handle, ranges: [[1, 2]] }),
    ]);
    assert.match(read.out, /^1\tworker/);
    const found = await place.run([
      "tool",
      "grep",
      "--json",
      JSON.stringify({ path: handle, pattern: "row 10[57] of" }),
    ]);
    assert.match(found.out, /106:worker \d+ wrote row 105 of/);
  });

  it("shows the use of the window", async () => {
    const { out, code } = await place.run(["sessions", "context", id]);
    assert.equal(code, 0);
    assert.match(out, /WHAT\s+TIMES\s+TOKENS\s+WINDOW/);
    assert.match(out, /results.*\n\s+shell\s+\d+, \d+ short\s+[\d.]+k?\s+[\d.]+ %\s+█/);
    const report: ContextReport = JSON.parse((await place.run(["sessions", "context", id, "--json"])).out);
    assert.equal(
      report.groups.reduce((sum, { tokens }) => sum + tokens, 0),
      report.tokens,
    );
    assert.ok(report.compactions >= 2 && report.tokens < report.most);
  });

  it("can be compacted on demand with the user's messages and rules verbatim, and continues", async () => {
    const asked = await place.run(["sessions", "compact", id, "--focus", "the otters", "--json"]);
    assert.equal(asked.code, 0, asked.err);
    const done: ContextCompacted = JSON.parse(asked.out);
    assert.ok(done.summary && done.after < done.before);
    assert.match(server.records.findLast(isSummary)?.text ?? "", /the otters/);
    const next = await place.run(["run", "--no-sandbox", "--resume", id, "e agora?"]);
    assert.equal(next.code, 0, next.err);
    const text = lastText();
    for (const one of [...constraints, ...rules, "e agora?"]) assert.ok(text.includes(one), `${one} is lost`);
    assert.ok(!text.includes("worker 0 wrote row 0 "), "what was summed up is gone");
    const cost = JSON.parse((await place.run(["sessions", "cost", id, "--json"])).out);
    assert.equal(cost.summaries?.length, 1, "it is in the account");
    const wrong = await place.run(["sessions", "compact", id, "--focus", " "]);
    assert.equal(wrong.code, 2);
  });
});

it("is compacted and sent again when the provider refuses it as too long", async () => {
  const limit = 40_000;
  const refused = { status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" };
  let step = 0;
  const server = await startWireServer(({ text }) => {
    if (text.length > limit) return { fault: { type: "status", ...refused } };
    const command = `cat out/${step}.txt`;
    const call = {
      type: "tool-call",
      id: `c${step}`,
      tool: "shell",
      input: JSON.stringify({ command }),
    } as const;
    return { parts: step++ < 12 ? [call] : [{ type: "text", text: "pronto" }], usage: "absent" };
  });
  const place = makePlace();
  try {
    const providers = { anthropic: { baseUrl: server.url, apiKey: "k" } };
    place.put("../home/.config/lathe/config.json", JSON.stringify({ providers }));
    for (let at = 0; at < 12; at++) place.put(`out/${at}.txt`, `${noise(at)}\n`);
    const model = ["--model", "anthropic/claude-sonnet-5-5"];
    const { code, out, err } = await place.run(["run", "--no-sandbox", ...model, "go"]);
    assert.equal(code, 0, err);
    assert.match(out, /pronto/);
    const isRefused = server.records.map(({ text }) => text.length > limit);
    assert.ok(isRefused.some((one) => one));
    assert.ok(!isRefused.some((one, at) => one && isRefused[at + 1]), "never twice in a row");
  } finally {
    place.remove();
    await server.close();
  }
});
