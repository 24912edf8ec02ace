/** What a person's answer decides. */
import {
  allowForProject,
  allowForSession,
  type CallState,
  type Decision,
  type EventData,
  isForMore,
  type Rule,
} from "@lathe/protocol";
import type { LoopPorts } from "../ports.ts";

type Answer = NonNullable<CallState["answer"]>;

/**
 * A person says that it may happen; anything else denies, and its words tell the model why. The model is told the same
 * whichever client the person used.
 */
export function personDecision({ text, part }: Answer, canBePart = false): Decision {
  if (part && !canBePart) {
    return { verdict: "deny", rule: "person", why: "user took only a part of it, and it has no parts" };
  }
  const isYes = text === "allow" || isForMore(text);
  if (isYes) return { verdict: "allow", rule: "person", why: "allowed by user" };
  return deniedByPerson(text === "deny" ? undefined : text);
}

export function deniedByPerson(words: string | undefined): Decision {
  const why = words === undefined ? "denied by user" : `denied by user: ${words}`;
  return { verdict: "deny", rule: "person", why };
}

/** The answers that are offered: what cannot be named cannot be allowed for good. */
export function answersFor(
  rules: readonly Rule[],
  { kept }: Pick<LoopPorts, "kept">,
): Pick<EventData<"question.asked">, "options" | "rules"> {
  if (rules.length === 0) return { options: ["allow", "deny"] };
  const project = kept ? [allowForProject] : [];
  return { options: ["allow", allowForSession, ...project, "deny"], rules };
}

/** What the answer allows from now on; kept for the session where it cannot be kept for the project. */
export async function alwaysOf(
  { text, rules = [] }: Answer,
  { kept }: Pick<LoopPorts, "kept">,
): Promise<Pick<EventData<"permission.decided">, "always">> {
  if (rules.length === 0 || !isForMore(text)) return {};
  const isKept = text === allowForProject && kept !== undefined && (await kept.keep(rules)) === undefined;
  return { always: { scope: isKept ? "project" : "session", rules } };
}
