/** Output schema: what the answer of a headless run has to be, as JSON. Loaded only with `--json-schema`. */
import { readFileSync } from "node:fs";
import { type Failure, isFailure } from "@lathe/protocol";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { usage } from "./run-options.ts";

export interface OutputSchema {
  /** What a model is told of it, with its task. */
  readonly request: string;
  /** *Contract:* the value, or what is wrong with the text, one sentence each. */
  read(text: string): Answer;
}

export type Answer =
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "problems"; readonly problems: readonly string[] };

/** Characters of a schema: it is said to the model. */
const mostChars = 50_000;
const mostProblems = 20;

export function readOutputSchema(path: string): OutputSchema | Failure {
  const schema = parsed(path);
  if (isFailure(schema)) return schema;
  const text = JSON.stringify(schema);
  if (text.length > mostChars) return usage(`the schema ${path} is too long: ${text.length} characters`);
  const validate = compiled(path, schema);
  if ("type" in validate) return validate;
  return {
    request: `When the work is done, answer with one JSON value and nothing else: no words around it. It has to match this JSON schema:\n\n${text}`,
    read: (said) => answerOf(said, validate),
  };
}

function parsed(path: string): object | boolean | Failure {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(readFileSync(path)));
    const isSchema = typeof value === "boolean" || (typeof value === "object" && value !== null);
    return isSchema && !Array.isArray(value)
      ? value
      : usage(`${path} is no JSON schema: an object is wanted`);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === undefined ? `is not valid JSON: ${message}` : `cannot be read (${code})`;
    return usage(`the schema ${path} ${why}`, cause);
  }
}

function compiled(path: string, schema: object | boolean): ValidateFunction | Failure {
  const { $schema } = schema as { readonly $schema?: unknown };
  const isOld = typeof $schema === "string" && /draft-0[4-7]/.test($schema);
  // Formats are a remark in the newer drafts, too.
  const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;
  try {
    return (isOld ? new Ajv(options) : new Ajv2020(options)).compile(schema);
  } catch (cause) {
    return usage(`the schema ${path} cannot be used: ${(cause as Error).message}`, cause);
  }
}

function answerOf(said: string, validate: ValidateFunction): Answer {
  let value: unknown;
  try {
    value = JSON.parse(unfenced(said));
  } catch (cause) {
    return { type: "problems", problems: [`it is not JSON (${(cause as Error).message})`] };
  }
  if (validate(value)) return { type: "value", value };
  const problems = (validate.errors ?? []).slice(0, mostProblems).map(problemOf);
  return { type: "problems", problems: [...new Set(problems)] };
}

/** Models like to fence what they were asked for alone. */
function unfenced(said: string): string {
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(said)?.[1] ?? said;
}

function problemOf({ instancePath, message = "is wrong", params }: ErrorObject): string {
  const { additionalProperty, allowedValues } = params as {
    additionalProperty?: string;
    allowedValues?: unknown;
  };
  const more =
    additionalProperty ?? (allowedValues === undefined ? undefined : JSON.stringify(allowedValues));
  return `${instancePath === "" ? "the value" : instancePath} ${message}${more === undefined ? "" : `: ${more}`}`;
}
