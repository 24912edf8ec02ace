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
  UserMessage,
} from "@lathe/protocol";

export interface Dialect {
  /** Reasoning of this provider is sent back, all other is dropped. */
  readonly provider: string;
  /** Marks the end of a prefix that is worth caching; absent when the wire caches by itself. */
  readonly cacheMark?: SharedV4ProviderOptions;
  /** How a call's input travels; by default as the text itself. */
  readonly call?: (part: ToolCallPart) => Pick<LanguageModelV4ToolCallPart, "input" | "providerOptions">;
}

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];
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
      return filled({ role: "user", content: userContent(message) });
    case "assistant":
      return filled({ role: "assistant", content: assistantContent(message, dialect) });
    case "tool":
      return filled({ role: "tool", content: toolContent(message) });
  }
}

/** An empty message is invalid on every wire. */
function filled(message: LanguageModelV4Message): LanguageModelV4Message | undefined {
  return message.content.length > 0 ? message : undefined;
}

function userContent(message: UserMessage): UserContent {
  return message.parts.flatMap((part): UserContent => {
    if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
    return [{ type: "file", mediaType: part.mediaType, data: { type: "data", data: part.base64 } }];
  });
}

function assistantContent(message: AssistantMessage, dialect: Dialect): AssistantContent {
  return message.parts.flatMap((part): AssistantContent => {
    switch (part.type) {
      case "text":
        return part.text === "" ? [] : [{ type: "text", text: part.text }];
      case "reasoning":
        if (part.provider !== dialect.provider) return [];
        return [{ type: "reasoning", text: part.text, ...metadataOf(part.signature) }];
      case "tool-call": {
        const travels = dialect.call?.(part) ?? { input: part.input };
        const providerOptions = {
          ...metadataOf(part.signature)?.providerOptions,
          ...travels.providerOptions,
        };
        return [{ type: "tool-call", toolCallId: part.id, toolName: part.tool, ...travels, providerOptions }];
      }
    }
    return [];
  });
}

function toolContent(message: ToolMessage): Extract<LanguageModelV4Message, { role: "tool" }>["content"] {
  return message.parts.map((part) => ({
    type: "tool-result",
    toolCallId: part.id,
    toolName: part.tool,
    output: { type: part.failed ? "error-text" : "text", value: part.text },
  }));
}

function metadataOf(
  signature: string | undefined,
): { readonly providerOptions: Record<string, JSONObject> } | undefined {
  return signature === undefined ? undefined : { providerOptions: JSON.parse(signature) };
}
