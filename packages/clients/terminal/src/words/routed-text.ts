/** Describes the router's choice and its reason in one line. */
import type { Event } from "@lathe/protocol";

export function routedText({ from, to, why, moment }: Event<"model.routed">["data"]): string {
  const name = to.slice(to.indexOf("/") + 1);
  if (moment === "evidence")
    return `auto: ${from === to ? `stays with ${name}` : `moves up to ${name}`}: ${why}`;
  return `auto: chose ${name}, as ${why}`;
}
