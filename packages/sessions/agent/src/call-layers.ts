/**
 * Call layers: all that stands around a tool call, from the outermost in. A call is prepared (`callPreparer`) and analyzed
 * (`analyzeCall`), decided through `decidingLayers`, the files are kept once for its step (`take-checkpoint`), and it runs
 * through `runningLayers`. Calls of subagents and commands that go on in the background are calls like any other.
 */
import type { DecidingCall, Ruling } from "@lathe/orchestrator";
import { evaluate, isLeftOpen } from "@lathe/policy";
import {
  type CallLayer,
  isFailure,
  type Outcome,
  onlyReads,
  type Ports,
  type RunningCall,
} from "@lathe/protocol";
import { cleanOutcome } from "@lathe/tools/clean-outcome";
import { askHooks, tellHooks } from "./hook-layers.ts";

type Deciding = DecidingCall & { readonly ports: Pick<Ports, "hooks" | "rules" | "secondOpinion"> };
type Running = RunningCall & { readonly ports: Pick<Ports, "checkEdits" | "hooks" | "restored"> };
type DecidingLayer = CallLayer<Deciding, Ruling>;
type RunningLayer = CallLayer<Running, Outcome>;

/** Inside of them: the rules. A person is asked by the orchestrator where `ask` is left. */
export const decidingLayers: readonly DecidingLayer[] = [askSmallModel, askHooks];

/** Outside sessions no model has a say. */
export const decidingLayersAlone: readonly DecidingLayer[] = [askHooks];

/** Inside of them: the tool itself. */
export const runningLayers: readonly RunningLayer[] = [
  tellHooks,
  refuseUnread,
  afterRestore,
  redactAndBound,
  checkEdits,
];

/** A person who types a command wants its output alone. */
export const typedLayers: readonly RunningLayer[] = [afterRestore, redactAndBound];

export function decideThrough(layers: readonly DecidingLayer[], call: Deciding): Promise<Ruling> {
  const { effects, facts, ports } = call;
  return through(layers, call, async () => ({ decision: evaluate({ effects }, facts, ports.rules) }));
}

export function runThrough(layers: readonly RunningLayer[], call: Running): Promise<Outcome> {
  return through(layers, call, () => call.prepared.run(call.context));
}

function through<Call, Answer>(
  [layer, ...inner]: readonly CallLayer<Call, Answer>[],
  call: Call,
  innermost: () => Promise<Answer>,
): Promise<Answer> {
  return layer ? layer(call, () => through(inner, call, innermost)) : innermost();
}

/** Asked only where nobody's rule, refusal or mode speaks; no clear answer is none. */
async function askSmallModel(
  { call: { tool, input }, effects, facts, signal, ports }: Deciding,
  next: () => Promise<Ruling>,
): Promise<Ruling> {
  const ruling = await next();
  const { verdict, why } = ruling.decision;
  if (verdict !== "ask" || !ports.secondOpinion || !isLeftOpen(effects, facts, ports.rules)) return ruling;
  const opinion = await ports.secondOpinion.judge({ tool, input, effects, why }, signal);
  if (isFailure(opinion)) return ruling;
  if (!opinion.isHarmless) return { ...ruling, opinion };
  const harmless = `${opinion.model} finds it harmless: ${opinion.why}`;
  return { decision: { verdict: "allow", rule: "second-opinion", why: harmless }, opinion };
}

/** In a session a person would be asked to grant the read. */
async function refuseUnread({ effects, isAlone }: Running, next: () => Promise<Outcome>): Promise<Outcome> {
  const outcome = await next();
  if (!isAlone || !onlyReads(effects) || outcome.type !== "ok" || !outcome.facts?.denied) return outcome;
  return { type: "refused", rule: "read-outside", why: outcome.text };
}

/** A call ends once the files that its commands replaced are there again. */
async function afterRestore({ ports }: Running, next: () => Promise<Outcome>): Promise<Outcome> {
  const outcome = await next();
  await ports.restored?.();
  return outcome;
}

/** Secrets are taken out before a text is cut: half a key is not recognized. */
async function redactAndBound(
  { prepared, context }: Running,
  next: () => Promise<Outcome>,
): Promise<Outcome> {
  return cleanOutcome(await next(), context, prepared);
}

function checkEdits(call: Running, next: () => Promise<Outcome>): Promise<Outcome> {
  return call.ports.checkEdits?.(call, next) ?? next();
}
