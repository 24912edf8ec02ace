/** Passes texts through unchanged, for tests without secrets. */
import type { ToolContext } from "@lathe/protocol";

export const unredacted: Pick<ToolContext, "redact" | "redaction"> = {
  redact: async (text) => text,
  redaction: async () => ({ write: (text) => text, rest: () => "", flush: () => "" }),
};
