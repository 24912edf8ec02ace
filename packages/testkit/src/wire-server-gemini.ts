/** Gemini generateContent, as the wire server speaks it. */
import type { AssistantPart, FinishReason, Message, ToolResultPart, UserMessage } from "@lathe/protocol";
import { checkGemini } from "./strict-gemini.ts";
import {
  event,
  type Frame,
  type Json,
  pieces,
  shownResult,
  signed,
  type WireFormat,
} from "./wire-server-format.ts";

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: "STOP",
  "tool-calls": "STOP",
  length: "MAX_TOKENS",
  refused: "SAFETY",
};

export const geminiFormat: WireFormat = {
  path: /:streamGenerateContent/,
  write: ({ parts, reason, usage }) => [
    frame("start", { content: content({ text: "" }) }),
    ...parts.flatMap((part) => wireParts(part).map((one) => frame(part.type, { content: content(one) }))),
    frame(
      "end",
      { content: content({ text: "" }), finishReason: reasons[reason] },
      usage && {
        promptTokenCount: usage.input,
        cachedContentTokenCount: usage.cached,
        candidatesTokenCount: usage.output - usage.reasoning,
        thoughtsTokenCount: usage.reasoning,
        totalTokenCount: usage.input + usage.output,
      },
    ),
  ],
  read: (body) => ({
    system: (body.systemInstruction?.parts ?? []).map((part: Json) => part.text).join(""),
    tools: (body.tools?.[0]?.functionDeclarations ?? []).map((tool: Json) => tool.name),
    messages: body.contents.flatMap(readMessage),
  }),
  strict: checkGemini,
  ping: ": keep-alive\n\n",
  unknown: event({ mood: "fine" }),
  broken: 'data: {"candidates":[{"content":{"parts":[{"te\n\n',
  overloaded: event({ error: { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" } }),
  errorEvent: (status) => event({ error: { message: "no luck", status } }),
  errorBody: (status, message) => ({
    error: { code: status, message, status: status === 429 ? "RESOURCE_EXHAUSTED" : "INTERNAL" },
  }),
};

function frame(of: Frame["of"], candidate: Json, usage?: Json): Frame {
  const candidates = [{ index: 0, ...candidate }];
  return { of, text: event({ candidates, responseId: "r1", ...(usage ? { usageMetadata: usage } : {}) }) };
}

function content(part: Json): Json {
  return { role: "model", parts: [part] };
}

function wireParts(part: AssistantPart): readonly Json[] {
  const { thoughtSignature } = signed(part, "google");
  if (part.type === "text") return pieces(part.text, 7).map((text) => ({ text }));
  if (part.type === "reasoning") {
    const signature = thoughtSignature ? { thoughtSignature } : {};
    return pieces(part.text, 7).map((text) => ({ text, thought: true, ...signature }));
  }
  const args = JSON.parse(part.input || "{}");
  return [
    {
      functionCall: { id: part.id, name: part.tool, args },
      ...(thoughtSignature ? { thoughtSignature } : {}),
    },
  ];
}

function readMessage({ role, parts }: Json): readonly Message[] {
  if (role === "model") return [{ role: "assistant", parts: parts.map(assistantPart) }];
  const results = parts.filter((part: Json) => part.functionResponse).map(resultPart);
  const said = parts.filter((part: Json) => !part.functionResponse).map(userPart);
  return [
    ...(results.length > 0 ? [{ role: "tool" as const, parts: results }] : []),
    ...(said.length > 0 ? [{ role: "user" as const, parts: said }] : []),
  ];
}

function assistantPart(part: Json): AssistantPart {
  const { thoughtSignature } = part;
  const signature = thoughtSignature ? { signature: JSON.stringify({ google: { thoughtSignature } }) } : {};
  if (part.functionCall) {
    const { id, name, args } = part.functionCall;
    return { type: "tool-call", id, tool: name, input: JSON.stringify(args), ...signature };
  }
  if (part.thought) return { type: "reasoning", text: part.text, provider: "google", ...signature };
  return { type: "text", text: part.text };
}

function userPart(part: Json): UserMessage["parts"][number] {
  if (part.inlineData)
    return { type: "image", mediaType: part.inlineData.mimeType, base64: part.inlineData.data };
  return { type: "text", text: part.text };
}

function resultPart({ functionResponse: { id, name, response, parts = [] } }: Json): ToolResultPart {
  const error = response.error;
  const text = error ?? response.content ?? response.output ?? "";
  const result = {
    type: "tool-result",
    id: id ?? "",
    tool: name,
    text,
    failed: error !== undefined,
  } as const;
  const images = shownResult("", parts.map(userPart)).images ?? [];
  return images.length > 0 ? { ...result, images } : result;
}
