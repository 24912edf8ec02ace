/** Hooked decision: what becomes of a decision about a call once the hooks have had their say. */
import type { Decision, Effect, HookedCall, Hooks, PreparedCall, ToolCallPart } from "@lathe/protocol";

/** What only a person may lift, whatever a hook says. */
const persons: ReadonlySet<string> = new Set(["refused-before", "uncontained"]);

interface Hearing {
  readonly hooks: Pick<Hooks, "decide" | "permit">;
  readonly signal: AbortSignal;
}

/** A hook can tighten a decision; it answers in a person's stead where one would be asked, and never lifts a denial. */
export async function hookedDecision(
  call: HookedCall,
  decision: Decision,
  { hooks, signal }: Hearing,
): Promise<Decision> {
  if (decision.verdict === "deny") return decision;
  const mayAllow = !persons.has(decision.rule);
  const said = await hooks.decide(call, decision, signal);
  const first = said.verdict !== "allow" || mayAllow ? said : decision;
  if (first.verdict !== "ask") return first;
  const answer = await hooks.permit(call, first, signal);
  return answer && (answer.verdict === "deny" || (mayAllow && answer.verdict === "allow")) ? answer : first;
}

/** With the arguments as the tool takes them, not as the model wrote them: a hook is to see what happens. */
export function hookedCall(
  { id, tool, input }: Pick<ToolCallPart, "id" | "tool" | "input">,
  { taken }: Pick<PreparedCall, "taken">,
  effects: readonly Effect[],
): HookedCall {
  if (!taken) return { id, tool, input, effects };
  return { id, tool: taken.tool, input: JSON.stringify(taken.input), effects };
}
