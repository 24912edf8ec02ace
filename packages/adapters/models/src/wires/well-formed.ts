/** Well-formed: what is sent without halves of surrogate pairs, which APIs refuse as no text. */

/** Texts and names of fields, however deep; the rest as it is. */
export function wellFormed<Value>(value: Value): Value {
  return healed(value) as Value;
}

function healed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(healed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name.toWellFormed(), healed(one)]));
}
