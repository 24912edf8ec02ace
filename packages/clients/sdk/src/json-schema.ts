/**
 * Compiles JSON schemas from others, and explains how a value violates one. Loaded only if there is a schema.
 */
import { Ajv, type ErrorObject } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import draft6 from "ajv/dist/refs/json-schema-draft-06.json" with { type: "json" };

/** *Contract:* pure; one sentence for each of the first problems, none if the value matches. */
export type JsonCheck = (value: unknown) => readonly string[];

const maxProblems = 20;
// Newer drafts, too, treat formats as annotations only.
const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const;

/** Throws if the schema is invalid, or of a draft before 6. */
export function compileJsonSchema(schema: object | boolean): JsonCheck {
  const validate = ajvFor(schema).compile(schema);
  return (value) => {
    if (validate(value)) return [];
    const problems = (validate.errors ?? []).slice(0, maxProblems).map(problemOf);
    return [...new Set(problems)];
  };
}

function ajvFor(schema: object | boolean): Ajv {
  const { $schema: draft = "" } = Object(schema) as { readonly $schema?: unknown };
  if (/draft-0[67]/.test(String(draft))) return new Ajv(options).addMetaSchema(draft6);
  if (/draft-0\d/.test(String(draft))) throw new Error("draft 6 is the oldest that is read");
  return String(draft).includes("2019-09") ? new Ajv2019(options) : new Ajv2020(options);
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
