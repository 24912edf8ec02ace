/** Run agent: joins orchestrator, context, policy and tools, and drives a session until no turn is open. */
import { assemble, estimateTokens, guardRailsOf, takeOver } from "@lathe/context";
import { type Agent, callPreparer, drive } from "@lathe/orchestrator";
import {
  evaluate,
  evaluateGrant,
  isLeftOpen,
  proposeGrantRules,
  proposeRules,
  refusalsOf,
} from "@lathe/policy";
import {
  type Effect,
  type Facts,
  type Failure,
  fold,
  isFailure,
  type OpenCall,
  type Opinion,
  type Ports,
  type Rule,
  type Session,
  type SessionLog,
  type ShellScript,
  type ToolContext,
} from "@lathe/protocol";
import type { RunOptions } from "./agent.ts";
import { analyzeCall } from "./analyze-call.ts";
import { askingOf } from "./asking.ts";
import { createCompactor } from "./compactor.ts";
import { toolContext } from "./tool-context.ts";

/** *Contract:* the log stays open; the caller closes it. */
export async function runAgent(
  log: SessionLog,
  ports: Ports,
  options: RunOptions,
): Promise<Session | Failure> {
  const session = await configure(log, ports, options);
  return isFailure(session) ? session : drive(log, session, agentOf(ports));
}

/** Records settings that differ from what the session has. */
async function configure(
  log: SessionLog,
  ports: Ports,
  { settings, limits, session = fold(log.events) }: RunOptions,
): Promise<Session | Failure> {
  const same = JSON.stringify([session.settings, session.limits]) === JSON.stringify([settings, limits]);
  if (same) return session;
  const drafts = [{ type: "session.configured", data: { settings, limits } }] as const;
  const events = await log.append(drafts, { at: ports.clock.now(), durable: false });
  if (isFailure(events)) return events;
  const configured = fold(events, session);
  for (const event of events) ports.onEvent(event, configured);
  return configured;
}

function agentOf(ports: Ports): Agent {
  const { workspace } = ports;
  return {
    ports,
    prepare: callPreparer(ports.tools),
    assemble,
    takeOver: (session, to) => takeOver(session, to, ports.tools),
    callsPerAnswer: (session) => guardRailsOf(session).callsPerAnswer || undefined,
    estimate: estimateTokens,
    compactor: createCompactor(ports),
    analyzeCall: (session, call) => analyzeCall(call, askingOf(session, ports.treePermissions?.()), ports),
    evaluate: (effects, facts) => evaluate({ effects }, facts, ports.rules),
    evaluateGrant: (effects, facts) => evaluateGrant(effects, facts, ports.rules),
    opinion: (call, facts, signal) => opinionOn(call, facts, { ports, signal }),
    propose: async (effects, facts) => offered(proposeRules(effects, facts, ports.rules), ports),
    proposeGrant: async (effects, facts) => offered(proposeGrantRules(effects, facts, ports.rules), ports),
    refusals: (effects, facts) => refusalsOf(effects, facts, ports.rules),
    version: async (path) => {
      const content = await workspace.read(path);
      return isFailure(content) ? null : content.version;
    },
    context: (session, call, amid) =>
      toolContext(ports, { session, call, amid, more: moreOf(session, call, ports) }),
  };
}

type More = Pick<ToolContext, "judge" | "judgeAgain" | "isAllowed" | "widensReads">;

/** What a call that makes its scripts as it runs may know of them. */
function moreOf(session: Session, call: string, ports: Ports): More {
  const analyzeScript = (script: ShellScript): ReturnType<typeof analyzeCall> =>
    analyzeCall({ effects: [], script }, askingOf(session, ports.treePermissions?.()), ports);
  return {
    judge: async (script) => {
      const { effects, facts } = await analyzeScript(script);
      return evaluate({ effects }, facts, ports.rules);
    },
    judgeAgain: async (script) => {
      const { effects, facts, judged = {} } = await analyzeScript(script);
      const isSame = areAllowed(effects, session, call);
      return isSame || evaluate({ effects }, facts, ports.rules).verdict === "allow" ? judged : undefined;
    },
    isAllowed: async (script) => areAllowed((await analyzeScript(script)).effects, session, call),
    ...(guardRailsOf(session).readsWidened && { widensReads: true }),
  };
}

/** Whether the call was allowed all of these. */
function areAllowed(effects: readonly Effect[], { calls }: Session, call: string): boolean {
  const allowed = calls.find((one) => one.call.id === call)?.effects ?? [];
  return effects.every((effect) =>
    allowed.some(({ kind, target }) => kind === effect.kind && target === effect.target),
  );
}

async function offered(rules: readonly Rule[], { kept }: Ports): Promise<readonly Rule[]> {
  return rules.length === 0 || !kept ? rules : kept.offered(rules);
}

/** Asked only where nobody's rule, refusal or mode speaks; no clear answer is none. */
async function opinionOn(
  call: OpenCall,
  facts: Facts,
  { ports, signal }: { readonly ports: Ports; readonly signal: AbortSignal },
): Promise<Opinion | undefined> {
  if (!ports.secondOpinion || !isLeftOpen(call.effects, facts, ports.rules)) return undefined;
  const opinion = await ports.secondOpinion.judge(call, signal);
  return isFailure(opinion) ? undefined : opinion;
}
