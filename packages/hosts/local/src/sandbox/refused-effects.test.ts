/** An effect that a person refused stays refused: the model of a session tries one route after another. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createShownTexts, runAgent } from "@lathe/agent";
import { defaultRules } from "@lathe/policy";
import { type Event, failure, type Ports, type Search, type Session, type SessionLog } from "@lathe/protocol";
import { createSyntax } from "@lathe/syntax";
import {
  createdDraft,
  createFakeSandbox,
  createHandMovedClock,
  createMemoryLedgers,
  createMemoryStore,
  createScriptedModel,
  type FakeSandbox,
  type MemoryStore,
  type ScriptedCall,
  succeeded,
  testOwner,
  unredacted,
} from "@lathe/testkit";
import { builtinTools } from "@lathe/tools";
import { createWorkspace } from "@lathe/workspace";
import { createPolicyEnvironment } from "../session/policy-environment.ts";

const shell = (command: string): ScriptedCall => ({ tool: "shell", input: { command } });
const first = shell("rm data/notes.txt");

/** Each call has the refused effect, or may have it. */
const routes: readonly (readonly [string, ScriptedCall])[] = [
  ["the same again, spelled otherwise", shell("r''m -f ./data/../data/notes.txt")],
  ["the tool for files", { tool: "delete", input: { path: "data/notes.txt" } }],
  ["the whole folder", shell("rm -rf data")],
  ["a glob", shell("rm -f data/no*")],
  ["emptying it", shell("> data/notes.txt")],
  ["moving it away", shell("mv data/notes.txt /tmp/gone")],
  ["by find", shell("find data -type f -delete")],
  ["another language", shell("python3 -c \"import os; os.remove('data/notes.txt')\"")],
  ["a name that cannot be told", shell('f=$(ls data); rm "data/$f"')],
  ["a program in a file", shell("node cleanup.js data/notes.txt")],
  ["a script of the project", shell("bash cleanup.sh")],
  ["a command that cannot be told", shell('eval "$(base64 -d < cleanup.txt)"')],
  ["by git", shell("git clean -fdx")],
  ["over standard input", shell("echo data/notes.txt | xargs rm")],
];

describe("a refused effect", () => {
  let root: string;
  let store: MemoryStore;
  let sandbox: FakeSandbox;
  let log: SessionLog;
  const events: Event[] = [];

  beforeEach(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-refused-")));
    mkdirSync(join(root, "data"));
    writeFileSync(join(root, "data/notes.txt"), "the only copy\n");
    writeFileSync(join(root, "cleanup.js"), "require('fs').unlinkSync(process.argv[2]);\n");
    writeFileSync(join(root, "cleanup.sh"), "rm -rf data\n");
    store = createMemoryStore();
    sandbox = createFakeSandbox();
    events.length = 0;
    log = succeeded(await store.create(createdDraft("s1", { cwd: root }), { owner: testOwner(1), at: 0 }));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function openAgent(calls: readonly ScriptedCall[], answer: () => string): Ports {
    const script = [...calls.map((call) => ({ calls: [call] })), { text: "done" }];
    const workspace = createWorkspace({ root });
    return {
      inbox: store,
      ledger: createMemoryLedgers().open("s1"),
      blobs: store,
      texts: createShownTexts(store, async (text) => text),
      ...unredacted,
      checkpoint: async () => failure("no-access", "no checkpoints in this test"),
      models: createScriptedModel(script).models,
      tools: builtinTools,
      rules: defaultRules,
      workspace,
      sandbox,
      containment: async () => ({ containment: "full", uncontainedAllowed: false }),
      surroundings: { ...createPolicyEnvironment(root, process.env), uncovered: async () => ["data/"] },
      search: {} as Search,
      syntax: createSyntax(),
      clock: createHandMovedClock({ leap: true }),
      onEvent: (event) => {
        events.push(event);
        if (event.type !== "question.asked") return;
        const { call } = event.data;
        const said = { type: "answer", call, question: event.seq, answer: answer(), by: "user" } as const;
        void store.offer("s1", said);
      },
      onDelta: () => undefined,
    };
  }

  async function drive(ports: Ports): Promise<Session> {
    await store.offer("s1", { type: "message", text: "tidy up" });
    const settings = { models: ["scripted/model"], mode: "auto", attended: true, checkpoints: true } as const;
    return succeeded(await runAgent(log, ports, { settings, limits: {} }));
  }

  const asked = (): number => events.filter(({ type }) => type === "question.asked").length;
  const rulesOf = (): readonly string[] =>
    events.flatMap((event) => (event.type === "permission.decided" ? [event.data.decision.rule] : []));

  for (const [name, route] of routes) {
    it(`stays refused: ${name}`, async () => {
      const { refusals } = await drive(openAgent([first, route], () => "deny"));
      assert.deepEqual(rulesOf(), ["person", "refused-before"]);
      assert.equal(asked(), 1);
      assert.deepEqual(sandbox.commands, []);
      assert.ok(existsSync(join(root, "data/notes.txt")));
      assert.ok(refusals.some(({ kind, target }) => kind === "delete" && target === "data/notes.txt"));
    });
  }

  it("does not affect other effects", async () => {
    const others = [
      shell("cat data/notes.txt"),
      shell("npm test"),
      shell("rm -rf dist"),
      shell("echo x >> a.txt"),
    ];
    await drive(openAgent([first, ...others], () => "deny"));
    assert.deepEqual(rulesOf(), ["person", "contained", "contained", "contained", "contained"]);
    assert.equal(asked(), 1);
  });

  it("is asked about again after the user's next message, and allowed if the user approves", async () => {
    const answers = ["deny", "allow"];
    const answer = (): string => {
      if (answers.length === 2) void store.offer("s1", { type: "message", text: "on second thought, do it" });
      return answers.shift() ?? "deny";
    };
    const { refusals } = await drive(openAgent([first, first], answer));
    assert.deepEqual([asked(), rulesOf()], [2, ["person", "person"]]);
    assert.deepEqual(refusals, []);
    assert.equal(sandbox.commands.length, 1);
  });
});
