/** Input bound: the maximum tokens of a request, from an estimate and the provider's earlier counts. */
import { providerOf, type SentRequest, type Session } from "@lathe/protocol";

/** Tokens that a provider may add around a few more messages. */
const wrapping = 64;

/**
 * The size of what was sent before is known exactly. Only the added part is estimated, and never at a lower
 * ratio than this provider has shown.
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
