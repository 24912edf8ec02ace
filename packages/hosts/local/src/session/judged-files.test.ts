/** The files that run are the ones a verdict depended on: sessions in which they change in between. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { createShownTexts, runAgent } from "@lathe/agent";
import { defaultRules } from "@lathe/policy";
import {
  type Event,
  failure,
  isFailure,
  type Outcome,
  outcomeText,
  type Ports,
  type Rule,
  type Sandbox,
  type Search,
  type SessionLog,
} from "@lathe/protocol";
import { createNoneDriver } from "@lathe/sandbox";
import { createSyntax } from "@lathe/syntax";
import {
  createdDraft,
  createHandMovedClock,
  createMemoryLedgers,
  createMemoryStore,
  createScriptedModel,
  type MemoryStore,
  type ScriptedCall,
  succeeded,
  testOwner,
  unredacted,
} from "@lathe/testkit";
import { builtinTools } from "@lathe/tools";
import { createWorkspace } from "@lathe/workspace";
import { createPolicyEnvironment } from "./policy-environment.ts";

const shell = (command: string, more: object = {}): ScriptedCall => ({
  tool: "shell",
  input: { command, ...more },
});

const good = "echo harmless\n";
const evil = "echo ran && git push --force\n";

interface Swap {
  readonly name: string;
  readonly text: string;
  /** The number of reads of the file before the swap. */
  readonly after: number;
}

interface Scene {
  readonly calls: readonly (readonly ScriptedCall[])[];
  readonly swap?: Swap;
  readonly containment?: "full" | "none";
  readonly rules?: readonly Rule[];
  readonly answer?: () => string;
}

describe("a file that a verdict depended on", () => {
  let root: string;
  let folder: string;
  let store: MemoryStore;
  let sandbox: Sandbox;
  let log: SessionLog;
  let background: boolean;
  const events: Event[] = [];

  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-judged-")));
    root = join(folder, "work");
    for (const name of ["work", "scratch"]) mkdirSync(join(folder, name));
    store = createMemoryStore();
    background = false;
    events.length = 0;
    const spec = { workspace: root, scratch: join(folder, "scratch"), network: "none" } as const;
    const env = { PATH: process.env.PATH ?? "", HOME: folder };
    const opened = await createNoneDriver().open({ ...spec, env });
    sandbox = isFailure(opened) ? assert.fail(opened.text) : opened;
    log = succeeded(await store.create(createdDraft("s1", { cwd: root }), { owner: testOwner(1), at: 0 }));
  });
  afterEach(async () => {
    await sandbox.close();
    rmSync(folder, { recursive: true });
  });

  const write = (name: string, text: string): void => writeFileSync(join(root, name), text);

  /** Replaces a file right after it was checked. */
  function surroundings(swap: Swap | undefined): Ports["surroundings"] {
    const real = createPolicyEnvironment(root, process.env);
    let looks = 0;
    const text: Ports["surroundings"]["text"] = async (path) => {
      const found = await real.text(path);
      if (swap && found.path === join(root, swap.name) && ++looks === swap.after) write(swap.name, swap.text);
      return found;
    };
    return { ...real, text, uncovered: async () => [] };
  }

  async function drive({ calls, swap, containment = "full", rules = [], answer }: Scene): Promise<void> {
    const script = [...calls.map((together) => ({ calls: together })), { text: "done" }];
    const ports: Ports = {
      inbox: store,
      ledger: createMemoryLedgers().open("s1"),
      blobs: store,
      texts: createShownTexts(store, async (text) => text),
      ...unredacted,
      checkpoint: async () => failure("no-access", "no checkpoints in this test"),
      models: createScriptedModel(script).models,
      tools: builtinTools,
      rules: [...defaultRules, ...rules],
      workspace: createWorkspace({ root }),
      sandbox,
      containment: async () => ({ containment, uncontainedAllowed: true }),
      surroundings: surroundings(swap),
      runsInBackground: () => background,
      search: {} as Search,
      syntax: createSyntax(),
      clock: createHandMovedClock({ leap: true }),
      onEvent: (event) => {
        events.push(event);
        if (event.type !== "question.asked") return;
        const { call } = event.data;
        const said = answer?.() ?? "deny";
        void store.offer("s1", { type: "answer", call, question: event.seq, answer: said, by: "user" });
      },
      onDelta: () => undefined,
    };
    await store.offer("s1", { type: "message", text: "do it" });
    const settings = {
      models: ["scripted/model"],
      mode: "auto",
      attended: true,
      checkpoints: false,
    } as const;
    succeeded(await runAgent(log, ports, { settings, limits: {} }));
  }

  const outcomes = (): readonly Outcome[] =>
    events.flatMap((event) => (event.type === "tool.completed" ? [event.data.outcome] : []));
  const codes = (): readonly string[] =>
    outcomes().map((outcome) => (outcome.type === "failed" ? outcome.failure.code : outcome.type));
  const texts = (): string => outcomes().map(outcomeText).join("\n");
  const rulesOf = (): readonly string[] =>
    events.flatMap((event) => (event.type === "permission.decided" ? [event.data.decision.rule] : []));

  const cases: Readonly<Record<string, readonly [file: string, text: string, command: string]>> = {
    "a script": ["s.sh", evil, "bash s.sh"],
    "a script that a script sources": ["lib.sh", evil, "bash main.sh"],
    "a script run by its name": ["s.sh", evil, "chmod +x s.sh && ./s.sh"],
    "a makefile": ["Makefile", `all:\n\t${evil}`, "make"],
    "a script of package.json": ["package.json", JSON.stringify({ scripts: { x: evil } }), "npm run x"],
    "a script fed to a shell": ["s.sh", evil, "bash < s.sh"],
    "a file that was not there": ["new.sh", evil, "bash main.sh; . ./new.sh"],
  };
  for (const [what, [name, text, command]] of Object.entries(cases)) {
    it(`is not replaced before it runs: ${what}`, async () => {
      write("s.sh", good);
      write("lib.sh", good);
      write("main.sh", ". ./lib.sh\n");
      write("Makefile", `all:\n\t${good}`);
      write("package.json", JSON.stringify({ scripts: { x: good } }));
      await drive({ calls: [[shell(command)]], swap: { name, text, after: 1 } });
      assert.deepEqual(codes(), ["stale-version"]);
      assert.doesNotMatch(texts(), /\bran\b/);
    });
  }

  it("is judged again after a change, and runs if it needs no approval", async () => {
    write("s.sh", good);
    await drive({ calls: [[shell("bash s.sh")]], swap: { name: "s.sh", text: "echo other\n", after: 1 } });
    assert.match(texts(), /^other/);
  });

  it("may be written by a call of the same answer", async () => {
    const call = { tool: "write", input: { path: "new.sh", content: "echo written\n" } };
    await drive({ calls: [[call, shell("bash new.sh")]] });
    assert.match(texts(), /written$/m);
  });

  it("may be changed by the command itself", async () => {
    write("s.sh", good);
    write(
      "package.json",
      JSON.stringify({ version: "1.0.0", scripts: { x: "sed -i s/1.0.0/1.1.0/ package.json" } }),
    );
    const calls = [
      [shell("sed -i s/harmless/edited/ s.sh && bash s.sh")],
      [shell("npm run x && cat package.json")],
    ];
    await drive({ calls, answer: () => "allow" });
    assert.match(texts(), /^edited/);
    assert.match(texts(), /"version":"1.1.0"/);
  });

  it("is the file that a person was asked about", async () => {
    write("s.sh", evil);
    const swapped = (): string => {
      write("s.sh", "echo ran && git push --force elsewhere\n");
      return "allow";
    };
    await drive({ calls: [[shell("bash s.sh")]], answer: swapped });
    assert.deepEqual(rulesOf(), ["changed-since-asked"]);
    assert.doesNotMatch(texts(), /\bran\b/);
  });

  it("is in the log", async () => {
    write("s.sh", good);
    await drive({ calls: [[shell("bash s.sh; bash gone.sh")]] });
    const [judged] = events.flatMap((event) =>
      event.type === "permission.decided" ? [event.data.judged] : [],
    );
    assert.deepEqual(Object.keys(judged ?? {}).sort(), [join(root, "gone.sh"), join(root, "s.sh")]);
    assert.equal(judged?.[join(root, "gone.sh")], null);
  });

  const host: Rule = { name: "host", verdict: "allow", kinds: ["network"], target: "example.com" };
  const open: readonly (readonly [string, Partial<Scene>, string])[] = [
    ["asks without a sandbox", { containment: "none" }, "person"],
    ["asks where a host may be reached", { rules: [host] }, "person"],
    ["does not ask in a full sandbox", {}, "contained"],
  ];
  for (const [what, more, rule] of open) {
    it(`that a command in the background may change ${what}`, async () => {
      write("s.sh", good);
      background = true;
      await drive({ calls: [[shell("bash s.sh")]], ...more });
      assert.deepEqual(rulesOf(), [rule]);
    });
  }
});
