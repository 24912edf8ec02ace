/** One assembled agent over fakes: the port calls it makes, and their order. */
import assert from "node:assert/strict";
import { it } from "node:test";
import {
  failure,
  type PolicyEnvironment,
  type Ports,
  type Rule,
  type Search,
  type SessionLog,
  type Settings,
  type Syntax,
  type Tool,
  type Workspace,
} from "@lathe/protocol";
import {
  createdDraft,
  createFakeSandbox,
  createHandMovedClock,
  createMemoryLedgers,
  createMemoryStore,
  createScriptedModel,
  failedWith,
  type MemoryStore,
  openBashParser,
  type Script,
  succeeded,
  testOwner,
  unredacted,
} from "@lathe/testkit";
import { runAgent } from "./run-agent.ts";
import { createShownTexts } from "./shown-texts.ts";

const settings: Settings = { models: ["scripted/model"], mode: "auto", attended: false };
const rules: readonly Rule[] = [{ name: "mine", verdict: "deny", kinds: ["read"], target: "secret/**" }];

/** `say` is a command; `look` is a read that returns the paths it would have to leave out. */
const tools: readonly Tool[] = [
  {
    name: "say",
    description: "",
    parameters: {},
    prepare: () => ({
      effects: [{ kind: "execute", target: "say" }],
      run: async () => ({ type: "ok", text: "said" }),
    }),
  },
  {
    name: "look",
    description: "",
    parameters: {},
    prepare: () => ({
      effects: [{ kind: "read", target: "." }],
      run: async ({ unreadable }) => ({ type: "ok", text: unreadable(".").join() }),
    }),
  },
];

function openAgent(store: MemoryStore, script: Script): Ports {
  return {
    inbox: store,
    ledger: createMemoryLedgers().open("s1"),
    blobs: store,
    texts: createShownTexts(store),
    ...unredacted,
    checkpoint: async () => failure("no-access", "no checkpoints in this test"),
    models: createScriptedModel(script).models,
    tools,
    rules,
    workspace: { resolve: async (path: string) => path } as Workspace,
    sandbox: createFakeSandbox(),
    containment: async () => ({ containment: "full", uncontainedAllowed: false }),
    surroundings: {} as PolicyEnvironment,
    search: {} as Search,
    syntax: {} as Syntax,
    clock: createHandMovedClock({ leap: true }),
    onEvent: () => undefined,
    onDelta: () => undefined,
  };
}

async function begin(store: MemoryStore): Promise<SessionLog> {
  const log = succeeded(await store.create(createdDraft("s1"), { owner: testOwner(1), at: 0 }));
  await store.offer("s1", { type: "message", text: "do it" });
  return log;
}

async function results(log: SessionLog, ports: Ports): Promise<readonly string[]> {
  const { messages } = succeeded(await runAgent(log, ports, { settings, limits: {} }));
  return messages.flatMap((message) =>
    message.role === "tool" ? message.parts.map((part) => JSON.stringify(part)) : [],
  );
}

it("tells tools which paths the rules exclude from reading", async () => {
  const store = createMemoryStore();
  const ports = openAgent(store, [{ calls: [{ tool: "look", input: {} }] }, { text: "done" }]);
  const [text] = await results(await begin(store), ports);
  assert.match(text ?? "", /secret\/\*\*/);
});

it("judges the open calls of a resumed session by the containment of commands", async () => {
  const store = createMemoryStore();
  const log = await begin(store);
  const dying: SessionLog = {
    ...log,
    append: async (drafts, options) =>
      drafts.some(({ type }) => type === "permission.decided")
        ? failure("owner-died", "killed by the test")
        : log.append(drafts, options),
  };
  const first = openAgent(store, [{ calls: [{ tool: "say", input: {} }] }]);
  failedWith("owner-died", await runAgent(dying, first, { settings, limits: {} }));
  const again = succeeded(await store.claim("s1", { owner: testOwner(2), at: 0, force: true }));
  const [text] = await results(again, openAgent(store, [{ text: "done" }]));
  assert.match(text ?? "", /said/);
});

it("tells a call whether a script it makes as it runs may run, and whether that is what it was allowed", async () => {
  const store = createMemoryStore();
  const denied: Rule = { name: "no-fix", verdict: "deny", kinds: ["execute"], target: "lint --fix*" };
  const lint: Tool = {
    name: "lint",
    description: "",
    parameters: {},
    prepare: () => ({
      effects: [],
      script: { text: "lint a.ts", folder: "" },
      run: async ({ judge, isAllowed }) => {
        const said: string[] = [];
        for (const text of ["lint a.ts", "lint b.ts", "lint --fix a.ts"]) {
          const script = { text, folder: "" };
          said.push(`${text}: ${(await judge?.(script))?.verdict} ${await isAllowed?.(script)}`);
        }
        return { type: "ok", text: said.join("; ") };
      },
    }),
  };
  const parse = await openBashParser();
  const ports: Ports = {
    ...openAgent(store, [{ calls: [{ tool: "lint", input: {} }] }, { text: "done" }]),
    tools: [lint],
    rules: [denied],
    surroundings: {
      text: async (path: string) => ({ path, text: undefined, digest: null }),
      exists: async () => false,
    } as unknown as PolicyEnvironment,
    syntax: { parse: async (_: string, text: string) => parse(text) } as unknown as Syntax,
  };
  const [text] = await results(await begin(store), ports);
  assert.match(text ?? "", /lint a\.ts: allow true; lint b\.ts: allow false; lint --fix a\.ts: deny false/);
});
