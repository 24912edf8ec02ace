/** Input bound: how many tokens a request has at most, from an estimate and what its provider counted before. */
import { providerOf, type SentRequest, type Session } from "@lathe/protocol";

/** What a provider may put around a few more messages. */
const wrapping = 64;

/**
 * What was sent before is known to the token; only what was added is estimated, and never thinner than this provider was
 * seen to count.
 */
export function inputBound({ prompts, density }: Session, model: string, sent: SentRequest): number {
  const factor = Math.max(1, density[providerOf(model)] ?? 1);
  const whole = Math.ceil(sent.estimate * factor);
  const prompt = prompts[model];
  const last = prompt?.ends.at(-1);
  const isSame = prompt?.system === sent.system && prompt.tools === sent.tools;
  if (!last || !isSame || last.messages > sent.kept) return whole;
  const added = Math.max(0, sent.estimate - last.estimate);
  return last.tokens + Math.ceil(added * factor) + wrapping;
}
