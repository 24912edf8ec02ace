/** The layers around a call: which ones may change a decision, and how they change an outcome. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defaultRules } from "@lathe/policy";
import {
  type Decision,
  type Effect,
  failure,
  type Hooks,
  type Opinion,
  type Outcome,
  outcomeText,
  type Ports,
  type ToolContext,
} from "@lathe/protocol";
import {
  decideThrough,
  decidingLayers,
  decidingLayersAlone,
  runningLayers,
  runThrough,
  typedLayers,
} from "./call-layers.ts";

const call = { type: "tool-call", id: "c1", tool: "run", input: "{}" } as const;
const facts = { mode: "auto", containment: "full", uncontainedAllowed: false, paths: {} } as const;
const signal = new AbortController().signal;
const open: Effect = { kind: "execute", target: "eval $x", expansion: "unknown" };
const allowed: Effect = { kind: "execute", target: "ls" };
const denied: Effect = { kind: "execute", target: "forbidden" };
const rules = [{ name: "mine", verdict: "deny", kinds: ["execute"], target: "forbidden" }] as const;

type Said = Pick<Decision, "verdict" | "rule">;

async function decide(effect: Effect, more: Partial<Ports>, layers = decidingLayers): Promise<Said> {
  const prepared = { effects: [effect], run: async () => assert.fail("it is only decided") };
  const ports = { rules: [...rules, ...defaultRules], ...more };
  const deciding = { call, prepared, effects: [effect], facts, signal, ports };
  const { decision } = await decideThrough(layers, deciding);
  return { verdict: decision.verdict, rule: decision.rule };
}

function saying(isHarmless: boolean): Pick<Ports, "secondOpinion"> {
  return { secondOpinion: { judge: async (): Promise<Opinion> => ({ model: "m", isHarmless, why: "w" }) } };
}

function hooksThat(verdict: Decision["verdict"] | undefined, permitted?: Decision["verdict"]): Hooks {
  const by = (one: Decision["verdict"]): Decision => ({ verdict: one, rule: "hook", why: "" });
  return {
    decide: async (_call: unknown, decision: Decision) => (verdict ? by(verdict) : decision),
    permit: async () => permitted && by(permitted),
    ran: async (_call: unknown, outcome: Outcome) =>
      ({ ...outcome, text: `${outcomeText(outcome)} hooked` }) as Outcome,
  } as unknown as Hooks;
}

describe("a small model", () => {
  it("allows only calls that it finds harmless", async () => {
    assert.deepEqual(await decide(open, saying(true)), { verdict: "allow", rule: "second-opinion" });
    assert.equal((await decide(open, saying(false))).verdict, "ask");
    const silent = { secondOpinion: { judge: async () => failure("cancelled", "no answer") } };
    assert.equal((await decide(open, silent)).verdict, "ask");
    assert.equal((await decide(open, saying(true), decidingLayersAlone)).verdict, "ask");
  });

  it("is not asked about calls that rules already deny or allow", async () => {
    const secondOpinion = { judge: async () => assert.fail("nobody may be asked") };
    assert.equal((await decide(allowed, { secondOpinion })).verdict, "allow");
    assert.deepEqual(await decide(denied, { secondOpinion }), { verdict: "deny", rule: "mine" });
  });
});

describe("a hook", () => {
  it("tightens a decision, and can approve instead of a person", async () => {
    assert.equal((await decide(allowed, { hooks: hooksThat("deny") })).verdict, "deny");
    assert.equal((await decide(allowed, { hooks: hooksThat("ask", "allow") })).verdict, "allow");
    assert.equal((await decide(open, { hooks: hooksThat(undefined, "allow") })).verdict, "allow");
  });

  it("never overrides a deny", async () => {
    assert.deepEqual(await decide(denied, { hooks: hooksThat("allow", "allow") }), {
      verdict: "deny",
      rule: "mine",
    });
  });
});

describe("an outcome", () => {
  const run = ({
    text,
    ports,
    layers = runningLayers,
  }: {
    text: string;
    ports: Partial<Ports>;
    layers?: typeof runningLayers;
  }): Promise<Outcome> => {
    const context = { signal, redact: async (said: string) => said.replace("hunter2", "[redacted]") };
    const prepared = { effects: [], note: "[noted]", run: async () => ({ type: "ok", text }) as const };
    return runThrough(layers, {
      call,
      kind: "edit",
      prepared,
      effects: [],
      context: context as unknown as ToolContext,
      ports,
    });
  };

  it("passes the layers from the innermost out", async () => {
    const order: string[] = [];
    const ports: Partial<Ports> = {
      hooks: hooksThat(undefined),
      checkEdits: async (_call, next) => {
        const outcome = await next();
        return outcome.type === "ok" ? { ...outcome, text: `${outcome.text} checked hunter2` } : outcome;
      },
      restored: async () => void order.push("restored"),
    };
    const outcome = await run({ text: "ran", ports });
    assert.equal(outcomeText(outcome), "ran checked [redacted]\n[noted] hooked");
    assert.deepEqual(order, ["restored"]);
  });

  it("of a typed command is not passed to hooks", async () => {
    const ports = { hooks: hooksThat("deny") };
    assert.equal(
      outcomeText(await run({ text: "hunter2", ports, layers: typedLayers })),
      "[redacted]\n[noted]",
    );
  });

  it("with a read that was held back is refused if no person can be asked", async () => {
    const effects: readonly Effect[] = [{ kind: "read", target: "/etc/x" }];
    const outcome: Outcome = { type: "ok", text: "kept", facts: { denied: effects } };
    const context = { signal, redact: async (text: string) => text } as unknown as ToolContext;
    const running = { call, prepared: { effects, run: async () => outcome }, effects, context, ports: {} };
    assert.equal((await runThrough(runningLayers, running)).type, "ok");
    assert.equal((await runThrough(runningLayers, { ...running, isAlone: true })).type, "refused");
  });
});
