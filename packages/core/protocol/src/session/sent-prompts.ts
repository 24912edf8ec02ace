/**
 * Sent prompts: what each model was sent and has answered, so that the next request knows what a cache may
 * hold.
 */
import {
  type CacheReading,
  cacheSlack,
  providerOf,
  type SentPrompt,
  type SentRequest,
} from "../prompt-cache.ts";
import type { Usage } from "../usage.ts";
import type { Session } from "./session.ts";

export function rememberSent(session: Session, model: string, sent: SentRequest | undefined): Session {
  if (!sent) return session;
  const { system, tools, kept, added, estimate } = sent;
  const before = session.prompts[model];
  const messages = [...(before?.messages.slice(0, kept) ?? []), ...added];
  const isSame = before?.system === system && before.tools === tools;
  const ends = isSame ? before.ends.filter((end) => end.messages <= kept) : [];
  const { usedAt = 0, overhead = 0, broken } = before ?? {};
  const prompt = { system, tools, messages, ends, usedAt, overhead, estimate, ...(broken && { broken }) };
  return { ...session, prompts: { ...session.prompts, [model]: prompt } };
}

/** Updates the prompt of the open attempt. */
export function rememberAnswered(
  session: Session,
  usage: Usage | undefined,
  reading: CacheReading | undefined,
): Session {
  const { model = "", startedAt = 0 } = session.turn?.attempt ?? {};
  const prompt = session.prompts[model];
  if (!prompt || !usage) return session;
  const { broken: _, ...unbroken } = prompt;
  const { messages, estimate, overhead } = unbroken;
  const end = { messages: messages.length, tokens: usage.input, estimate };
  const ends = [...prompt.ends.filter((one) => one.messages < end.messages), end];
  const off = reading ? reading.expected - usage.cached : 0;
  const isHit =
    reading !== undefined && reading.expected > 0 && Math.abs(off) <= cacheSlack(reading.expected);
  const learned = isHit ? Math.max(0, overhead + off) : overhead;
  const answered = { ...unbroken, ends, usedAt: startedAt, overhead: learned };
  return {
    ...session,
    prompts: { ...session.prompts, [model]: answered },
    density: { ...session.density, [providerOf(model)]: denser(session, model, end) },
    asked: { model, tokens: usage.input },
  };
}

/** Each model notices the break at its next request. */
export function brokenBy(prompts: Session["prompts"], cause: "rewound" | "compacted"): Session["prompts"] {
  const entries = Object.entries(prompts).map(
    ([model, prompt]) => [model, { ...prompt, broken: cause }] as const,
  );
  return Object.fromEntries(entries);
}

/**
 * The highest ratio of a provider's token count to the estimate, for whole requests and for added messages.
 */
function denser(session: Session, model: string, end: SentPrompt["ends"][number]): number {
  const before = session.prompts[model]?.ends.at(-1);
  const more = end.estimate - (before?.estimate ?? 0);
  const added = before && more >= leastMeasured ? (end.tokens - before.tokens) / more : 0;
  const whole = end.estimate > 0 ? end.tokens / end.estimate : 0;
  return Math.max(session.density[providerOf(model)] ?? 0, whole, added);
}

/** Smaller differences depend more on a provider's framing than on its tokens. */
const leastMeasured = 200;
