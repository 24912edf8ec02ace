/** Splits a request's cost among its parts: the first were read from the cache, the last cost full price. */
import type { Message, Rates, Session, Usage } from "@lathe/protocol";
import type { Place } from "./cost-report.ts";

type Kind = Pick<Place, "place" | "tool">;

interface Part extends Kind {
  readonly length: number;
}

export interface Sums {
  readonly kind: Kind;
  tokens: number;
  charged: number;
  cost: number;
}

/** Length of an image, in characters. */
const imageLength = 6000;
const lengths = new WeakMap<Message, readonly Part[]>();

/** The parts of a request in the order in which a provider reads them. */
export function partsOf({ prompt, messages }: Session): readonly Part[] {
  const length = prompt.system.length + JSON.stringify(prompt.tools).length;
  return [{ place: "prompt", length }, ...messages.flatMap(messageParts)];
}

function messageParts(message: Message): readonly Part[] {
  const known = lengths.get(message);
  if (known) return known;
  const parts: readonly Part[] =
    message.role === "tool"
      ? message.parts.map((part) => ({ place: "tool", tool: part.tool, length: lengthOf(part) }))
      : [
          {
            place: message.role === "user" ? "words" : "answers",
            length: message.parts.reduce((sum, part) => sum + lengthOf(part), 0),
          },
        ];
  lengths.set(message, parts);
  return parts;
}

function lengthOf(part: Message["parts"][number]): number {
  return part.type === "image" ? imageLength : JSON.stringify(part).length;
}

/** Adds one answered request to the sums; the previous request already held the first `sentBefore` parts. */
export function shareInput(
  sums: Map<string, Sums>,
  { parts, sentBefore }: { readonly parts: readonly Part[]; readonly sentBefore: number },
  { usage, rates }: { readonly usage: Usage; readonly rates: Rates | undefined },
): void {
  const whole = parts.reduce((sum, { length }) => sum + length, 0);
  const tokensPer = usage.input / Math.max(1, whole);
  let at = 0;
  parts.forEach((part, index) => {
    const tokens = part.length * tokensPer;
    const one = sumsOf(sums, part);
    if (index >= sentBefore) one.tokens += tokens;
    one.charged += tokens;
    if (rates) one.cost += costBetween([at, at + tokens], usage, rates);
    at += tokens;
  });
}

export function addOutput(sums: Map<string, Sums>, usage: Usage, rates: Rates | undefined): void {
  const split = [
    ["output", usage.output - usage.reasoning],
    ["reasoning", usage.reasoning],
  ] as const;
  for (const [place, tokens] of split) {
    if (tokens <= 0) continue;
    const one = sumsOf(sums, { place });
    one.tokens += tokens;
    one.charged += tokens;
    one.cost += (tokens * (rates?.output ?? 0)) / 1e6;
  }
}

function sumsOf(sums: Map<string, Sums>, { place, tool }: Kind): Sums {
  const key = `${place} ${tool ?? ""}`;
  const kind = tool === undefined ? { place } : { place, tool };
  const one = sums.get(key) ?? { kind, tokens: 0, charged: 0, cost: 0 };
  sums.set(key, one);
  return one;
}

/**
 * US dollars for the tokens between two positions of a request: cached tokens come first, then written ones.
 */
function costBetween([from, to]: readonly [number, number], usage: Usage, rates: Rates): number {
  const { cached, written, input } = usage;
  const within = (start: number, end: number): number =>
    Math.max(0, Math.min(to, end) - Math.max(from, start));
  const total =
    within(0, cached) * rates.cached +
    within(cached, cached + written) * rates.written +
    within(cached + written, input) * rates.input;
  return total / 1e6;
}
