/** The prompt that a model starts with: system prompt and tools of its profile. */
import type { ProfileTuning, Prompt, ToolSpec } from "@lathe/protocol";
import type { EditDialect, Profile } from "./profiles/profile.ts";
import { profileOf } from "./profiles/profile-of.ts";
import { systemPrompt } from "./system-prompt.ts";

export interface PromptParts {
  readonly surroundings: string;
  /** Tools of every dialect. */
  readonly tools: readonly ToolSpec[];
  /** The session's experimental profile settings. */
  readonly tuning?: ProfileTuning | undefined;
}

export function promptFor(model: string, { surroundings, tools, tuning }: PromptParts): Prompt {
  const profile = { ...profileOf(model), ...tuning };
  return {
    system: systemPrompt(profile, surroundings),
    tools: offeredTools(tools, profile).map((tool) => specOf(tool, profile.freeform === true)),
    model,
    surroundings,
  };
}

function specOf({ name, description, parameters, freeform }: ToolSpec, writesFreely: boolean): ToolSpec {
  return { name, description, parameters, ...(freeform && writesFreely && { freeform }) };
}

const editTools: Readonly<Record<EditDialect, readonly string[]>> = {
  "str-replace": ["edit", "write", "delete", "move"],
  v4a: ["apply_patch"],
};

/**
 * The tools offered to a model: of the tools that change files only those of its dialect, or all if it has
 * none.
 */
export function offeredTools<T extends { readonly name: string }>(
  tools: readonly T[],
  { edits }: Pick<Profile, "edits">,
): readonly T[] {
  const own = editTools[edits];
  if (!tools.some(({ name }) => own.includes(name))) return tools;
  const all = Object.values(editTools).flat();
  return tools.filter(({ name }) => own.includes(name) || !all.includes(name));
}
