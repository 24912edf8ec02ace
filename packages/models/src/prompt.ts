/** Turns a neutral request into the provider packages' prompt; what differs per wire comes in as `Dialect`. */
import type {
  JSONObject,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4ToolCallPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type {
  AssistantMessage,
  Message,
  ModelRequest,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from "@lathe/protocol";
import type { FitId } from "./call-fit.ts";

export interface Dialect {
  /** Reasoning of this provider is sent back, all other is dropped. */
  readonly provider: string;
  /** Marks the end of a prefix that is worth caching; absent when the wire caches by itself. */
  readonly cacheMark?: SharedV4ProviderOptions;
  /** How a call's input travels; by default as the text itself. */
  readonly call?: (part: ToolCallPart) => Pick<LanguageModelV4ToolCallPart, "input" | "providerOptions">;
  /** The ids of calls that the wire takes; by default all. */
  readonly callId?: FitId;
  /** The names of tools that the wire takes in calls; by default all. */
  readonly toolName?: (name: string) => string;
  /** Text of white space alone is refused like empty text. */
  readonly refusesBlank?: true;
}

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];
type ToolContent = Extract<LanguageModelV4Message, { role: "tool" }>["content"];
type UserContent = Extract<LanguageModelV4Message, { role: "user" }>["content"];

export function promptOf(
  request: ModelRequest,
  dialect: Dialect,
): Pick<LanguageModelV4CallOptions, "prompt" | "tools" | "maxOutputTokens"> {
  const marks = dialect.cacheMark ? request.cacheMarks.slice(-maxMessageMarks) : [];
  const marked = (index: number): SharedV4ProviderOptions | undefined =>
    marks.includes(index) ? dialect.cacheMark : undefined;
  const messages = request.messages.flatMap((message, index) =>
    withMark(convert(message, dialect), marked(index)),
  );
  const system: LanguageModelV4Message[] =
    request.system === "" ? [] : withMark({ role: "system", content: request.system }, dialect.cacheMark);
  // A provider takes four marks: with three in the messages, the system's mark covers the tools as well.
  const toolMark = system.length > 0 && marks.length === maxMessageMarks ? undefined : dialect.cacheMark;
  return {
    prompt: [...system, ...messages],
    tools: request.tools.map((tool, index) => ({
      type: "function",
      name: tool.name,
      description: tool.description,
      inputSchema: tool.parameters as LanguageModelV4FunctionTool["inputSchema"],
      ...(toolMark && index === request.tools.length - 1 ? { providerOptions: toolMark } : {}),
    })),
    maxOutputTokens: request.maxOutputTokens,
  };
}

const maxMessageMarks = 3;

function withMark(
  message: LanguageModelV4Message | undefined,
  mark: SharedV4ProviderOptions | undefined,
): LanguageModelV4Message[] {
  if (!message) return [];
  return [mark ? { ...message, providerOptions: mark } : message];
}

function convert(message: Message, dialect: Dialect): LanguageModelV4Message | undefined {
  switch (message.role) {
    case "user":
      return filled({ role: "user", content: userContent(message, dialect) });
    case "assistant":
      return filled({ role: "assistant", content: assistantContent(message, dialect) });
    case "tool":
      return filled({ role: "tool", content: toolContent(message, dialect) });
  }
}

/** An empty message is invalid on every wire; that its neighbours may have one role then is not. */
function filled(message: LanguageModelV4Message): LanguageModelV4Message | undefined {
  return message.content.length > 0 ? message : undefined;
}

function userContent(message: UserMessage, dialect: Dialect): UserContent {
  return message.parts.flatMap((part): UserContent => {
    if (part.type === "text") return textContent(part.text, dialect);
    return [{ type: "file", mediaType: part.mediaType, data: { type: "data", data: part.base64 } }];
  });
}

function textContent(text: string, { refusesBlank }: Dialect): { type: "text"; text: string }[] {
  return (refusesBlank ? text.trim() : text) === "" ? [] : [{ type: "text", text }];
}

/** Providers refuse reasoning that nothing follows, as in an answer that was cut there or had no more to say. */
function assistantContent(message: AssistantMessage, dialect: Dialect): AssistantContent {
  const content = message.parts.flatMap((part) => assistantPart(part, dialect));
  return content.slice(0, content.findLastIndex(({ type }) => type !== "reasoning") + 1);
}

function assistantPart(part: AssistantMessage["parts"][number], dialect: Dialect): AssistantContent {
  switch (part.type) {
    case "text":
      return textContent(part.text, dialect);
    case "reasoning":
      if (part.provider !== dialect.provider) return [];
      return [{ type: "reasoning", text: part.text, ...metadataOf(part.signature) }];
    case "tool-call": {
      const fit = fitting(part, dialect);
      const travels = dialect.call?.(fit) ?? { input: fit.input };
      const providerOptions = { ...metadataOf(fit.signature)?.providerOptions, ...travels.providerOptions };
      return [{ type: "tool-call", toolCallId: fit.id, toolName: fit.tool, ...travels, providerOptions }];
    }
  }
}

function fitting<Part extends ToolCallPart | ToolResultPart>(
  part: Part,
  { callId, toolName }: Dialect,
): Part {
  return { ...part, id: callId?.(part.id) ?? part.id, tool: toolName?.(part.tool) ?? part.tool };
}

function toolContent(message: ToolMessage, dialect: Dialect): ToolContent {
  return message.parts.map((part) => {
    const { id, tool, failed, text } = fitting(part, dialect);
    const output = { type: failed ? "error-text" : "text", value: text } as const;
    return { type: "tool-result", toolCallId: id, toolName: tool, output };
  });
}

function metadataOf(
  signature: string | undefined,
): { readonly providerOptions: Record<string, JSONObject> } | undefined {
  return signature === undefined ? undefined : { providerOptions: JSON.parse(signature) };
}
