/** Prompt: the start of every request. */
import * as v from "valibot";
import { type ToolSpec, toolSpecSchema } from "./ports/model.ts";

/** Pinned byte for byte when the session is created and when another model takes over. */
export interface Prompt {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  /** Whom it was made for; absent in old sessions, whose tools are those of all models. */
  readonly model?: string;
  /** The end of `system`, which is for every model: where the agent is, and what the project asks. */
  readonly surroundings?: string;
}

export const promptSchema: v.GenericSchema<unknown, Prompt> = v.object({
  system: v.string(),
  tools: v.array(toolSpecSchema),
  model: v.exactOptional(v.string()),
  surroundings: v.exactOptional(v.string()),
});
