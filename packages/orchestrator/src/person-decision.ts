/** What a person's answer decides. */
import type { Decision } from "@lathe/protocol";

/** A person says `allow`; anything else denies, and its words tell the model why. */
export function personDecision(answer: string, by: string): Decision {
  if (answer === "allow") return { verdict: "allow", rule: "person", why: `allowed by ${by}` };
  const why = answer === "deny" ? `denied by ${by}` : `denied by ${by}: ${answer}`;
  return { verdict: "deny", rule: "person", why };
}
