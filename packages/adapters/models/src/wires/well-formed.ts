/** Well-formed: removes halves of surrogate pairs from requests, which APIs refuse as invalid text. */

/**
 * Fixes texts and field names at any depth. Copies only changed values, since the request grows with the
 * conversation.
 */
export function wellFormed<Value>(value: Value): Value {
  return healed(value) as Value;
}

function healed(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return isSound(value) ? value : value.map(healed);
  if (isSound(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name.toWellFormed(), healed(one)]));
}

function isSound(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isSound);
  for (const name of Object.keys(value)) {
    if (!name.isWellFormed() || !isSound((value as Readonly<Record<string, unknown>>)[name])) return false;
  }
  return true;
}
