/** Sessions of one tree that spend as fast as they can, with random faults; also a program of its own. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { type Agent, callPreparer, drive } from "@lathe/orchestrator";
import {
  costOf,
  type Draft,
  failure,
  fold,
  isFailure,
  type Ledger,
  type ModelRequest,
  type SessionLog,
  type Tool,
} from "@lathe/protocol";
import { createInbox, createJsonlLedgers, createJsonlStore, processOwner } from "@lathe/stores";
import { createScriptedModel, type ScriptedAnswer, succeeded } from "@lathe/testkit";

const price = { input: 2, cached: 0.2, written: 2.5, output: 10 };

export interface Tree {
  readonly folder: string;
  readonly root: string;
  readonly children: readonly string[];
}

const estimate = (request: ModelRequest): number => 500 + JSON.stringify(request.messages).length;

/** The provider counts differently from the estimate, but the same way at each step of a session. */
function thickness(session: string): number {
  return (1 + ((Number.parseInt(session.replace(/\D/g, ""), 10) || 0) % 4)) / 4;
}

/** The provider records its charge before it sends any text, so killed attempts are charged, too. */
function answerTo(folder: string, request: ModelRequest): Promise<ScriptedAnswer> {
  const random = Math.random;
  const input = Math.floor(estimate(request) * thickness(request.cacheKey));
  const output = Math.floor(request.maxOutputTokens * random() ** 2);
  const usage = { input, cached: 0, written: Math.floor(input * random()), output, reasoning: 0 };
  const fate = random();
  const free = fate < 0.1;
  if (!free) appendFileSync(join(folder, "charges"), `${costOf(usage, price)}\n`);
  const answer: ScriptedAnswer = free
    ? { failure: failure("rate-limited", "slow down", { retry: "same" }) }
    : fate < 0.2
      ? { text: "half", failure: failure("stream-broken", "it broke off", { retry: "same" }) }
      : { calls: [{ tool: "look", input: { at: random() } }], usage };
  return new Promise((resolve) => setTimeout(() => resolve(answer), 20 * random()));
}

const look: Tool = {
  name: "look",
  description: "",
  parameters: {},
  prepare: () => ({
    effects: [],
    run: async () => ({ type: "ok", text: `${Math.random()}` }),
  }),
};

/** The account may have changed by the time the reader uses it. */
function openSlowLedger(folder: string, root: string): Ledger {
  const ledger = createJsonlLedgers({ folder }).open(root);
  return {
    read: async () => {
      const account = await ledger.read();
      await new Promise((resolve) => setTimeout(resolve, 4 * Math.random()));
      return account;
    },
    enter: (entries, options) => ledger.enter(entries, options),
    settleDead: () => ledger.settleDead(),
    changed: (signal) => ledger.changed(signal),
    close: () => ledger.close(),
  };
}

function agentOf({ folder, root }: Tree): Agent {
  return {
    ports: {
      clock: { now: () => Date.now(), sleep: async () => undefined, random: () => Math.random() },
      models: createScriptedModel((request) => answerTo(folder, request), { price }).models,
      inbox: createInbox({ folder }),
      ledger: openSlowLedger(folder, root),
      checkpoint: async () => failure("no-access", "none"),
      onEvent: () => undefined,
      onDelta: () => undefined,
    },
    prepare: callPreparer([look]),
    assemble: (session, info) => ({
      system: "",
      tools: [],
      messages: session.messages,
      cacheMarks: [],
      maxOutputTokens: info.maxOutput,
      cacheKey: session.id,
    }),
    takeOver: () => ({}),
    estimate,
    analyzeCall: async (_session, { effects }) => ({
      effects,
      facts: { mode: "auto", containment: "full", uncontainedAllowed: false, paths: {} },
    }),
    decide: async () => ({ decision: { verdict: "allow", rule: "test", why: "" } }),
    evaluate: () => ({ verdict: "allow", rule: "test", why: "" }),
    evaluateGrant: () => ({ verdict: "allow", rule: "test", why: "" }),
    propose: async () => [],
    proposeGrant: async () => [],
    refusals: () => [],
    version: async () => null,
    run: (_call, prepared) => prepared.run({} as never),
  };
}

export async function openSession(tree: Tree, id: string, limits: { cost?: number }): Promise<SessionLog> {
  const store = createJsonlStore({ folder: tree.folder });
  const owner = processOwner();
  const prompt = { system: "", tools: [] };
  const family = id === tree.root ? {} : { parent: tree.root, root: tree.root };
  const data = { id, cwd: "/w", title: id, harness: "test", prompt, ...family };
  const created: Draft<"session.created"> = { type: "session.created", data };
  const made = await store.create(created, { owner, at: Date.now() });
  const log = isFailure(made) ? succeeded(await store.claim(id, { owner, at: Date.now() })) : made;
  // The process may have been killed before it got its message.
  if (fold(log.events).turn || fold(log.events).lastEnd) return log;
  const settings = { models: ["scripted/model"], mode: "auto", attended: false } as const;
  const drafts = [
    { type: "session.configured", data: { settings, limits } },
    { type: "message.received", data: { parts: [{ type: "text", text: "spend" }] } },
  ] as const;
  succeeded(await log.append(drafts, { at: Date.now(), durable: false }));
  return log;
}

/** Runs one session until its turn ends; resolves with how it ended. */
export async function spend(tree: Tree, id: string, limits: { cost?: number } = {}): Promise<unknown> {
  const log = await openSession(tree, id, limits);
  const agent = agentOf(tree);
  const events = succeeded(await createJsonlStore({ folder: tree.folder }).read(id));
  const session = succeeded(await drive(log, fold(events), agent));
  await log.close();
  agent.ports.ledger.close();
  return session.lastEnd;
}

if (process.argv[2] === "spend") {
  const tree = JSON.parse(process.argv[3] ?? "{}") as Tree;
  const ends = await Promise.all(tree.children.map((id) => spend(tree, id)));
  process.stdout.write(JSON.stringify(ends));
}
