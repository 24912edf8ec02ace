/**
 * Network rules in the form that the sandbox's proxy needs: hosts allowed without asking, and hosts barred.
 */
import type { Mode, Rule } from "@lathe/protocol";
import { matchesText } from "../globs/glob.ts";

export interface NetworkRules {
  /** Targets of allow rules: mostly hosts, and words of commands. */
  readonly hosts: readonly string[];
  /** Whether a rule denies this host, or host and port; without a grant, also whether one asks. */
  bars(host: string, isGranted: boolean): boolean;
}

/** `mode`: the mode at the time of the request; a read-only one reaches no host by rule. */
export function networkRules(rules: readonly Rule[], mode: () => Mode): NetworkRules {
  const speaking = rules.filter(({ kinds }) => kinds?.includes("network"));
  const against = rules.filter(
    ({ verdict, kinds }) => verdict !== "allow" && (!kinds || kinds.includes("network")),
  );
  const hosts = speaking.flatMap(({ verdict, target }) =>
    verdict === "allow" && target !== undefined ? [target] : [],
  );
  return {
    hosts,
    bars: (host, isGranted) =>
      (!isGranted && isReading(mode())) ||
      against.some(
        ({ verdict, target }) =>
          (verdict === "deny" || !isGranted) && (target === undefined || matchesText(target, host)),
      ),
  };
}

/**
 * A host that one of these rules lets commands reach; a rule that names a whole command allows nothing else.
 */
export function grantedHost(rules: readonly Rule[]): string | undefined {
  const found = rules.find(
    ({ verdict, kinds, target = "**" }) =>
      verdict === "allow" && kinds?.includes("network") && !/\s/u.test(target),
  );
  return found && (found.target ?? "any host");
}

function isReading(mode: Mode): boolean {
  return mode === "plan" || mode === "read-only";
}
