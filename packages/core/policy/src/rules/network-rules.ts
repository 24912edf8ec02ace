/** Rules on the network as the sandbox's proxy needs them: what may be reached unasked, and what stands against it. */
import type { Mode, Rule } from "@lathe/protocol";
import { matchesText } from "../globs/glob.ts";

export interface NetworkRules {
  /** Targets of rules that allow: hosts for the most part, and words of commands. */
  readonly hosts: readonly string[];
  /** Whether a rule denies this host, or host and port; where nothing was granted, also whether one asks. */
  bars(host: string, isGranted: boolean): boolean;
}

/** `mode`: as it is when a host is asked for; one that only reads reaches nothing by rule. */
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

/** A host that commands may reach by one of these rules: what names a whole command lets nothing else through. */
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
