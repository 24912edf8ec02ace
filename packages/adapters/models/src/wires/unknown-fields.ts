/** Keeps fields of a chat completion that no package knows: token ids, log probabilities, routing notes. */
import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import { isRecord } from "@lathe/protocol";

export interface UnknownFields {
  take(chunk: unknown): void;
  kept(): JSONObject;
}

/** The name under which the fields travel in the package's own metadata. */
export const rawKey = "lathe";

type Fields = Readonly<Record<string, unknown>>;

const known: ReadonlySet<string> = new Set([
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
  "system_fingerprint",
  "service_tier",
  "provider",
  "index",
  "delta",
  "message",
  "finish_reason",
  "native_finish_reason",
  "stop_reason",
  "obfuscation",
  "role",
  "content",
  "refusal",
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "tool_calls",
]);

/** Lists grow chunk by chunk; for anything else the last value counts. */
export function createUnknownFields(): UnknownFields {
  const kept: Record<string, JSONValue> = {};
  const keep = (fields: Fields | null | undefined): void => {
    for (const name in fields) {
      const value = fields[name] as JSONValue;
      if (!known.has(name) && value !== null && value !== undefined) kept[name] = merged(kept[name], value);
    }
  };
  return {
    take(chunk) {
      if (typeof chunk !== "object" || chunk === null) return;
      keep(chunk as Fields);
      const choice = (chunk as { choices?: readonly (Fields & { delta?: Fields })[] }).choices?.[0];
      keep(choice);
      keep(choice?.delta);
    },
    kept: () => kept,
  };
}

function merged(old: JSONValue | undefined, value: JSONValue): JSONValue {
  if (Array.isArray(old) && Array.isArray(value)) return [...old, ...value];
  if (!isRecord(old) || !isRecord(value)) return value;
  const both: Record<string, JSONValue> = { ...(old as Record<string, JSONValue>) };
  for (const [name, inner] of Object.entries(value)) both[name] = merged(both[name], inner as JSONValue);
  return both;
}
