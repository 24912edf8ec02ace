/** What the proxy refused a command, in the form of grants a person can be asked for. */
import type { Effect } from "@lathe/protocol";
import { isFailure } from "@lathe/protocol";
import { addressKind } from "../proxy/address-kind.ts";
import { parseHostRule } from "../proxy/host-rule.ts";
import type { NetworkDecision } from "../proxy/proxy-core.ts";

/** How programs say that the network was it. */
const words =
  /\b(?:40[37]|prox(?:y|ied)|tunnel\w*|networks?|fetch\w*|downloads?|downloading|connect\w*|unreachable|resolv\w*|registry|hosts?|timed out|timeout|E(?:CONN|AI_|NOTFOUND|HOST|NET)\w*)\b/iu;
const grantable: ReadonlySet<string> = new Set(["public", "private", "loopback"]);

/**
 * The refusals are exact, but not what they meant to the command: many programs also send figures home, and go on
 * without. A command that failed and says nothing of a network failed of something else.
 */
export function offersFor(refused: readonly NetworkDecision[], output: string): readonly Effect[] {
  const offers = new Map(
    refused.flatMap((one) => {
      const target = offered(one);
      return target === undefined ? [] : [[target, one.host] as const];
    }),
  );
  const isTold =
    output.trim() === "" || words.test(output) || [...offers.values()].some((host) => output.includes(host));
  return isTold ? [...offers.keys()].map((target) => ({ kind: "network", target })) : [];
}

/** A rule for the very host that was asked for; the cloud's and the link's own addresses are never offered. */
function offered({ host, remedy }: NetworkDecision): string | undefined {
  const rule = remedy === undefined ? undefined : parseHostRule(remedy);
  if (!rule || isFailure(rule) || rule.host !== host) return undefined;
  return isOfferedHost(rule.text) ? rule.text : undefined;
}

/** `host` or `host:port` that a person may be asked for, and no more than that one. */
export function isOfferedHost(text: string): boolean {
  const rule = parseHostRule(text);
  return !isFailure(rule) && (rule.kind === "name" || grantable.has(addressKind(rule.host)));
}
