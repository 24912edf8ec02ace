/** Prompt: the start of every request. */
import * as v from "valibot";

/** JSON Schema of an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool as the model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  /** One of its arguments, the only one needed, can be written as it is, without JSON, where the API has that. */
  readonly freeform?: Freeform;
}

export interface Freeform {
  /** The argument's name. */
  readonly argument: string;
  /** What it may look like, in the language of Lark. */
  readonly grammar: string;
}

const toolSpecSchema: v.GenericSchema<unknown, ToolSpec> = v.object({
  name: v.string(),
  description: v.string(),
  parameters: v.record(v.string(), v.unknown()),
  freeform: v.exactOptional(v.object({ argument: v.string(), grammar: v.string() })),
});

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
