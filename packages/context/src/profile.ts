/** Model profiles: what of the harness is tuned to which family of models, as data. */

/** How a model writes edits: pieces of text by pieces of text, or OpenAI's V4A patches. */
export type EditDialect = "str-replace" | "v4a";

export interface Profile {
  readonly family: string;
  readonly edits: EditDialect;
}

/** By the model's id without its provider, first match. */
const families: readonly (readonly [id: RegExp, profile: Profile])[] = [
  [/^(?:gpt-|chatgpt-|codex|o\d)/, { family: "openai", edits: "v4a" }],
];

const other: Profile = { family: "other", edits: "str-replace" };

/** `model` as it is named, e.g. `openai/gpt-5`. */
export function profileOf(model: string): Profile {
  const id = model.slice(model.lastIndexOf("/") + 1);
  return families.find(([pattern]) => pattern.test(id))?.[1] ?? other;
}

const editTools: Readonly<Record<EditDialect, readonly string[]>> = {
  "str-replace": ["edit", "write", "delete", "move"],
  v4a: ["apply_patch"],
};

/** Those a model is offered: of the tools that change files its own dialect's, or all where there are none of these. */
export function offeredTools<T extends { readonly name: string }>(
  tools: readonly T[],
  model: string,
): readonly T[] {
  const own = editTools[profileOf(model).edits];
  if (!tools.some(({ name }) => own.includes(name))) return tools;
  const all = Object.values(editTools).flat();
  return tools.filter(({ name }) => own.includes(name) || !all.includes(name));
}
