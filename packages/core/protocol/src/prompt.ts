/** Prompt: the beginning of every request. */
import * as v from "valibot";

/** JSON Schema of an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A tool as described to the model. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  /** The only required argument may be written as raw text instead of JSON, if the API supports that. */
  readonly freeform?: Freeform;
}

export interface Freeform {
  /** The argument's name. */
  readonly argument: string;
  /** Its grammar, in Lark syntax. */
  readonly grammar: string;
}

const toolSpecSchema: v.GenericSchema<unknown, ToolSpec> = v.object({
  name: v.string(),
  description: v.string(),
  parameters: v.record(v.string(), v.unknown()),
  freeform: v.exactOptional(v.object({ argument: v.string(), grammar: v.string() })),
});

/** Fixed byte for byte when the session is created and when another model takes over. */
export interface Prompt {
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  /** The model it was made for; absent in old sessions, whose tools are the same for all models. */
  readonly model?: string;
  /** The end of `system`, the same for every model: the environment, and the project's instructions. */
  readonly surroundings?: string;
}

export const promptSchema: v.GenericSchema<unknown, Prompt> = v.object({
  system: v.string(),
  tools: v.array(toolSpecSchema),
  model: v.exactOptional(v.string()),
  surroundings: v.exactOptional(v.string()),
});
