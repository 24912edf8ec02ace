/** Turns a program's function into a tool that the model can call. */
import { type Effect, failure, type JsonSchema, type Outcome, type Tool } from "@lathe/protocol";

export interface OwnTool<Input> {
  /** Letters, digits, dash and underscore, at most 64. */
  readonly name: string;
  /** For the model, in every request: keep it short. */
  readonly description: string;
  /** JSON schema of one object; the tool never runs with arguments that do not match. */
  readonly parameters: JsonSchema;
  /**
   * *Contract:* the effects that the rules check before it runs. If absent, the program vouches for the tool,
   * and it runs without asking.
   */
  effects?(input: Input): readonly Effect[];
  /** *Contract:* a text, or a whole outcome; the model gets the error that it throws. */
  run(input: Input, context: { readonly signal: AbortSignal }): Promise<string | Outcome> | string | Outcome;
}

export function defineTool<Input = Readonly<Record<string, unknown>>>(own: OwnTool<Input>): Tool {
  const { name, description, parameters } = own;
  if (!/^[\w-]{1,64}$/.test(name))
    throw new Error(`a tool's name is of letters, digits, - and _, not "${name}"`);
  return {
    name,
    description,
    parameters,
    prepare: (given) => {
      if (typeof given !== "object" || given === null || Array.isArray(given))
        return failure("invalid-arguments", `${name}: the arguments are one object`);
      const input = given as Input;
      return {
        effects: own.effects?.(input) ?? [],
        run: async ({ signal }) => {
          const result = await own.run(input, { signal });
          return typeof result === "string" ? { type: "ok", text: result } : result;
        },
      };
    },
  };
}
