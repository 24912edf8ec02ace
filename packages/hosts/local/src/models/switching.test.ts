/**
 * Another model at every step: whole sessions over four wires, against servers as strict as the real ones.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createShownTexts, runAgent, sessionCreated } from "@lathe/agent";
import { assemble } from "@lathe/context";
import { createModels, type Gateway } from "@lathe/models";
import {
  type AssistantPart,
  type Event,
  failure,
  fold,
  type ImagePart,
  type PolicyEnvironment,
  type Ports,
  type Search,
  type Syntax,
} from "@lathe/protocol";
import {
  brokenPrefixes,
  createFakeSandbox,
  createHandMovedClock,
  createMemoryLedgers,
  createMemoryStore,
  startWireServer,
  succeeded,
  testOwner,
  unredacted,
  type WireAnswer,
  type WireRecord,
  type WireServer,
} from "@lathe/testkit";
import { fc } from "@lathe/testkit/properties";
import { builtinTools } from "@lathe/tools";
import { createWorkspace } from "@lathe/workspace";

/** Two of each wire, to distinguish what belongs to a model from what belongs to its provider. */
const ids = [
  "anthropic/claude-sonnet-5-5",
  "anthropic/claude-opus-4-8",
  "openai/gpt-6-sol",
  "openai/gpt-4.1",
  "local/qwen3-vl",
  "local/gpt-oss",
  "google/gemini-3.8-flash",
  "google/gemini-2.5-pro",
] as const;

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image: ImagePart = { type: "image", mediaType: "image/png", base64: png };
const patch = "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch";

const folder = mkdtempSync(join(tmpdir(), "lathe-switching-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Reasoning as this wire's models sign it, text, and calls; IDs as this provider's servers make them. */
function answerOf({ path, request }: WireRecord, step: number): readonly AssistantPart[] {
  const key = `k${step}`;
  const edits = request.tools.includes("apply_patch")
    ? (["apply_patch", { patch }] as const)
    : (["write", { path: `f${step}.txt`, content: "hello\n" }] as const);
  const wanted: readonly (readonly [string, object])[] = [
    [["read", { path: "shot.png" }], edits],
    [["functions.look up", { q: step }]],
    [edits],
    [
      ["todo", { todos: [{ text: "x", state: "doing" }] }],
      ["read", { path: "shot.png" }],
    ],
  ][step % 4] as readonly (readonly [string, object])[];
  const calls = wanted.map(([tool, input], at): AssistantPart & { type: "tool-call" } => {
    const id = callId(path, { key, at });
    return { type: "tool-call", id, tool, input: JSON.stringify(input) };
  });
  const thought = `I think of step ${step}.`;
  const said = step % 3 === 0 ? [{ type: "text", text: "Let me see." } as const] : [];
  return [reasoningOf(path, thought, key), ...said, ...signedCalls(path, calls, key)];
}

function callId(path: string, { key, at }: { key: string; at: number }): string {
  if (path.includes("/messages")) return `toolu_01${key}${at}`;
  if (path.includes("/responses")) return `call_${key}_${at}`;
  // Some servers restart the numbering with each answer.
  return path.includes("/chat/") ? `functions.read:${at}` : `${key}${at}`;
}

function reasoningOf(path: string, text: string, key: string): AssistantPart {
  const base = { type: "reasoning", text } as const;
  if (path.includes("/messages"))
    return { ...base, provider: "anthropic", signature: JSON.stringify({ anthropic: { signature: key } }) };
  if (path.includes("/chat/")) return { ...base, provider: "local" };
  if (path.includes("/responses")) {
    const openai = { itemId: `rs_${key}`, reasoningEncryptedContent: key };
    return { ...base, provider: "openai", signature: JSON.stringify({ openai }) };
  }
  return { ...base, provider: "google" };
}

/** Gemini signs the first call of an answer. */
function signedCalls(
  path: string,
  calls: readonly (AssistantPart & { type: "tool-call" })[],
  key: string,
): readonly AssistantPart[] {
  if (!path.includes("/models/")) return calls;
  const signature = JSON.stringify({ google: { thoughtSignature: key } });
  return calls.map((call, at) => (at === 0 ? { ...call, signature } : call));
}

interface Ran {
  readonly server: WireServer;
  readonly events: readonly Event[];
}

/** One step for each model of the order; every tenth, a person sends a message and an image. */
async function run(order: readonly string[]): Promise<Ran> {
  const store = createMemoryStore();
  const root = mkdtempSync(join(folder, "root-"));
  writeFileSync(join(root, "shot.png"), Buffer.from(png, "base64"));
  const script = (record: WireRecord, step: number): WireAnswer => {
    const next = order[step + 1];
    // The session reads it while this step's calls are still open.
    if (next) void store.offer("s1", { type: "model", model: next });
    const isLast = step % 10 === 9 || step === order.length - 1;
    const parts = answerOf(record, step);
    return { parts: isLast ? [...parts.slice(0, 1), { type: "text", text: "Done." }] : parts };
  };
  const server = await startWireServer(script, { strict: true });
  const models = gatewayTo(server.url);
  const ports = portsOf(store, models, root);
  const [model = ""] = order;
  const created = sessionCreated({
    id: "s1",
    cwd: root,
    task: "t",
    harness: "test",
    model,
    tools: builtinTools,
    environment: { Folder: root },
    instructions: [],
  });
  succeeded(await store.create(created, { owner: testOwner(1), at: 0 }));
  try {
    for (let said = 0; server.records.length < order.length && said < 20; said++) {
      await store.offer("s1", { type: "message", text: `part ${said}`, images: [image] });
      const log = succeeded(await store.claim("s1", { owner: testOwner(1), at: 0, force: true }));
      const { settings, model: last } = fold(log.events);
      const chain = settings.models.length > 0 ? settings.models : [last];
      const options = { settings: { ...settings, models: chain, mode: "auto" }, limits: {} } as const;
      succeeded(await runAgent(log, ports, options));
    }
  } finally {
    models.close();
    await server.close();
  }
  return { server, events: succeeded(await store.read("s1")) };
}

function gatewayTo(url: string): Gateway {
  return createModels({
    providers: {
      anthropic: { baseUrl: url, apiKey: "k", wire: "anthropic" },
      openai: { baseUrl: `${url}/v1`, apiKey: "k", wire: "responses" },
      local: { baseUrl: `${url}/v1`, apiKey: "k", wire: "chat" },
      google: { baseUrl: url, apiKey: "k", wire: "gemini" },
    },
  });
}

function portsOf(store: ReturnType<typeof createMemoryStore>, models: Gateway, root: string): Ports {
  return {
    inbox: store,
    ledger: createMemoryLedgers().open("s1"),
    blobs: store,
    texts: createShownTexts(store),
    ...unredacted,
    checkpoint: async () => failure("no-access", "no checkpoints in this test"),
    models,
    tools: builtinTools,
    rules: [{ name: "all", verdict: "allow" }],
    workspace: createWorkspace({ root }),
    sandbox: createFakeSandbox(),
    containment: async () => ({ containment: "full", uncontainedAllowed: false }),
    surroundings: { uncovered: async () => [], unsaved: async () => false } as unknown as PolicyEnvironment,
    search: {} as Search,
    syntax: { parse: async () => failure("no-access", "no grammars") } as unknown as Syntax,
    clock: createHandMovedClock({ leap: true }),
    onEvent: () => undefined,
    onDelta: () => undefined,
  };
}

function assertTaken({ server, events }: Ran, order: readonly string[]): void {
  const problems = server.records.flatMap(({ problem, path }, at) =>
    problem === undefined ? [] : [`${at} ${path}: ${problem}`],
  );
  assert.deepEqual(problems, []);
  const failed = events.filter(({ type }) => type === "step.failed");
  assert.deepEqual(failed, []);
  const steps = events.flatMap((event) => (event.type === "step.completed" ? [event.data.model] : []));
  assert.deepEqual(steps, order);
  assert.deepEqual(brokenPrefixes(events, assemble), []);
}

describe("a session whose model changes at every step", () => {
  it("is never refused when it changes wires and returns", async () => {
    const order = Array.from({ length: 32 }, (_, at) => ids[(at * 3) % ids.length] ?? ids[0]);
    const ran = await run(order);
    assertTaken(ran, order);
    const bodies = (part: string) => ran.server.records.filter(({ path }) => path.includes(part));
    for (const part of ["/messages", "/responses", "/chat/", "gemini-3.8", "gemini-2.5"]) {
      const sent = bodies(part)
        .map(({ text }) => text)
        .join();
      assert.ok(sent.includes(png), `no image went over ${part}`);
      assert.match(sent, /you take over/);
    }
    assert.match(
      bodies("/responses")
        .map(({ text }) => text)
        .join(),
      /"type":"custom_tool_call_output"/,
    );
    const oss = bodies("/chat/").filter(({ body }) => body.model === "gpt-oss");
    assert.ok(oss.every(({ text }) => !text.includes(png) && text.includes("cannot see")));
  });

  it("keeps a model's own reasoning while that model continues, and never shows it to another", async () => {
    for (const id of ids) {
      const other = ids[(ids.indexOf(id) + 1) % ids.length] ?? "";
      const order = [id, id, id, other, other, id];
      const ran = await run(order);
      assertTaken(ran, order);
      const own = ran.server.records[2]?.text ?? "";
      const theirs = ran.server.records[3]?.text ?? "";
      assert.ok(own.includes("I think of step 1."), id);
      assert.ok(!theirs.includes("I think of step"), `${id} to ${other}`);
    }
  });

  it("is never refused in any order", async () => {
    const orders = fc.array(fc.constantFrom(...ids), { minLength: 30, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(orders, async (order) => assertTaken(await run(order), order)),
      { numRuns: 4, endOnFailure: true },
    );
  });
});
