/** Shared parts of the strict checks: earlier answers, and rules that are nearly the same everywhere. */
import { type AssistantPart, imageType } from "@lathe/protocol";
import type { Issued, Json } from "./wire-server-format.ts";

/** Half of a surrogate pair is invalid in JSON that is read as UTF-8. */
export function* checkEncoding(body: Json): Iterable<string> {
  if (typeof body === "string" && !body.isWellFormed())
    yield "The request body is not valid JSON: no low surrogate in string";
  if (typeof body !== "object" || body === null) return;
  for (const [name, value] of Object.entries(body)) {
    yield* checkEncoding(name);
    yield* checkEncoding(value);
  }
}

/** Tool names are unique, use the API's allowed characters, and have an object as schema. */
export function* checkTools(
  tools: readonly { readonly name: Json; readonly schema: Json }[],
  pattern: RegExp,
): Iterable<string> {
  const names = new Set<string>();
  for (const { name, schema } of tools) {
    if (!pattern.test(String(name))) yield `tools: "${name}" does not match ${pattern}`;
    if (names.has(name)) yield `tools: names must be unique, "${name}" is not`;
    names.add(name);
    if (schema !== undefined && schema?.type !== "object") yield `tools: the schema of ${name} is no object`;
  }
}

export function* checkLimit(
  name: string,
  value: Json,
  [least, most]: readonly [number, number],
): Iterable<string> {
  if (!Number.isInteger(value) || value < least || value > most)
    yield `${name}: ${value} is not in ${least}..${most}`;
}

export function* checkFields(what: string, value: object, known: readonly string[]): Iterable<string> {
  for (const name of Object.keys(value)) if (!known.includes(name)) yield `${what}: unknown field ${name}`;
}

const maxBase64 = 5 * 1024 * 1024;

export function* checkImage(mediaType: string, base64: string, types: readonly string[]): Iterable<string> {
  if (!types.includes(mediaType)) yield `image: ${mediaType} is not supported`;
  if (base64.length > maxBase64) yield "image: larger than 5 MB";
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return yield "image: no base64";
  const found = imageType(Buffer.from(base64, "base64"));
  if (found !== mediaType) yield `image: said to be ${mediaType}, but is ${found ?? "none"}`;
}

export function* checkDataUrl(url: Json, types: readonly string[]): Iterable<string> {
  const [, mediaType, base64] = /^data:([^;]+);base64,(.*)$/s.exec(String(url)) ?? [];
  if (mediaType === undefined || base64 === undefined) yield "image: no data URL";
  else yield* checkImage(mediaType, base64, types);
}

/** The provider's own value in a part's metadata. */
export function ownValue(part: AssistantPart, provider: string, name: string): unknown {
  if (part.type === "text" || part.signature === undefined) return undefined;
  return JSON.parse(part.signature)[provider]?.[name];
}

/** Finds the earlier answer, and its part, that contain a value. */
export function findIssued(
  issued: readonly Issued[],
  holds: (part: AssistantPart) => boolean,
): { readonly answer: Issued; readonly part: AssistantPart; readonly at: number } | undefined {
  for (const answer of issued) {
    const at = answer.parts.findIndex(holds);
    const part = answer.parts[at];
    if (part) return { answer, part, at };
  }
  return undefined;
}
