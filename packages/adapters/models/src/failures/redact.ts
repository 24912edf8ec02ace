/** Removes secrets from text that a person, a log or a model may read. */

import { hideKnownValues } from "@lathe/protocol/secrets/known";

/** Common shapes of keys, for those inside a provider's own error text. */
const shapes = /\b(?:sk-(?:ant-)?[\w-]{12,}|AIza[\w-]{20,}|xai-[\w-]{16,}|Bearer\s+[\w.~+/-]{12,}=*)/g;

export function redact(text: string, secrets: readonly string[]): string {
  let clean = hideKnownValues(text, secrets, "[redacted]");
  for (const secret of secrets) if (secret.length >= 4) clean = clean.replaceAll(secret, "[redacted]");
  return clean.replace(shapes, "[redacted]");
}
