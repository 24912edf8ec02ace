/** Requests that Gemini's generateContent documents as refused. */
import { isRecord } from "@lathe/protocol";
import { checkEncoding, checkImage, checkLimit, checkTools, findIssued, ownValue } from "./strict-wire.ts";
import type { Json, StrictCheck, StrictContext } from "./wire-server-format.ts";

const imageTypes = ["image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"];
const toolName = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
/** The documented value for calls that another model made. */
const skip = "skip_thought_signature_validator";

export const checkGemini: StrictCheck = function* (body, given) {
  const { contents, tools = [], systemInstruction, generationConfig } = body;
  yield* checkEncoding(body);
  yield* checkLimit("maxOutputTokens", generationConfig?.maxOutputTokens, [1, 65_536]);
  const declared = tools.flatMap((tool: Json) => tool.functionDeclarations ?? []);
  yield* checkTools(
    declared.map((tool: Json) => ({ name: tool.name, schema: tool.parameters })),
    toolName,
  );
  for (const { text } of systemInstruction?.parts ?? [])
    if (!text) yield "systemInstruction: text must not be empty";
  yield* checkContents(contents, given);
  yield* checkTurns(contents);
  if (/gemini-(?:[3-9]|\d\d)/.test(given.model)) yield* checkSigned(contents);
};

function* checkContents(contents: readonly Json[], given: StrictContext): Iterable<string> {
  if (contents.length === 0) return yield "contents: at least one is required";
  if (contents[0]?.role !== "user") yield "contents: the first must be a user turn";
  if (contents.at(-1)?.role !== "user") yield "contents: the last must be a user turn";
  for (const { role, parts } of contents) {
    if (role !== "user" && role !== "model") yield `contents: unknown role ${role}`;
    if (parts.length === 0) yield "contents: parts must not be empty";
    for (const part of parts) yield* role === "user" ? checkUserPart(part) : checkModelPart(part, given);
  }
}

function* checkUserPart({ text, inlineData, functionResponse }: Json): Iterable<string> {
  if (inlineData) return yield* checkImage(inlineData.mimeType, inlineData.data, imageTypes);
  if (!functionResponse) {
    if (!text) yield "user: a part must not be empty";
    return;
  }
  if (!toolName.test(functionResponse.name)) yield `functionResponse: invalid name ${functionResponse.name}`;
  if (!isRecord(functionResponse.response)) yield "functionResponse: response must be an object";
  for (const { inlineData: image } of functionResponse.parts ?? []) {
    yield* checkImage(image.mimeType, image.data, imageTypes);
  }
}

function* checkModelPart(part: Json, { model, issued }: StrictContext): Iterable<string> {
  const { text, functionCall, thoughtSignature } = part;
  if (functionCall) {
    if (!toolName.test(functionCall.name)) yield `functionCall: invalid name ${functionCall.name}`;
    if (!isRecord(functionCall.args)) yield "functionCall: args must be an object";
  } else if (!text && thoughtSignature === undefined) yield "model: a part must not be empty";
  if (thoughtSignature === undefined || thoughtSignature === skip) return;
  const found = findIssued(issued, (one) => ownValue(one, "google", "thoughtSignature") === thoughtSignature);
  if (!found || found.answer.model !== model) return yield "Thought signature is not valid";
  const kind = functionCall ? "tool-call" : part.thought ? "reasoning" : "text";
  if (found.part.type !== kind) yield `Thought signature of a ${found.part.type} stands on a ${kind}`;
}

/** A turn of calls follows the user or results; the next turn has exactly its results, in order. */
function* checkTurns(contents: readonly Json[]): Iterable<string> {
  for (const [at, { role, parts }] of contents.entries()) {
    const calls = parts.flatMap((part: Json) => (part.functionCall ? [part.functionCall] : []));
    const answers = responsesOf(contents[at + 1]);
    if (role === "model" && calls.length > 0) {
      if (contents[at - 1]?.role !== "user")
        yield "function call turn must come right after a user turn or a function response turn";
      const named = (all: readonly Json[]) => all.map(({ name, id }) => `${name} ${id}`).join();
      if (named(calls) !== named(answers))
        yield `function responses (${named(answers)}) must equal the function calls (${named(calls)})`;
    } else if (answers.length > 0) yield "function response turn must come right after a function call turn";
  }
  if (responsesOf(contents[0]).length > 0)
    yield "function response turn must come right after a function call turn";
}

function responsesOf(content: Json): readonly Json[] {
  return (content?.parts ?? []).flatMap((part: Json) =>
    part.functionResponse ? [part.functionResponse] : [],
  );
}

/** Since the last user message, the first call of each step has a signature. */
function* checkSigned(contents: readonly Json[]): Iterable<string> {
  const spoke = contents.findLastIndex(
    (content) => content.role === "user" && responsesOf(content).length === 0,
  );
  for (const { parts } of contents.slice(spoke + 1)) {
    const call = parts.find((part: Json) => part.functionCall);
    if (call && !call.thoughtSignature)
      yield `Function call ${call.functionCall.name} is missing a thought_signature`;
  }
}
