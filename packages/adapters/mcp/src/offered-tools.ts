/** Offered tools: what a server says it can do, also where it keeps to the protocol only roughly. */
import type { JsonSchema, McpTool } from "@lathe/protocol";
import { type Client, SdkErrorCode, type StandardSchemaV1 } from "@modelcontextprotocol/client";

/** Characters of a description and of a schema: a server's words are in every request. */
const descriptionChars = 1_000;
const schemaChars = 10_000;
/** A server that says each time that there is more is believed so often. */
const maxPages = 64;

type Fields = Readonly<Record<string, unknown>>;

/** Throws what the client throws. Of two with one name the first: no model is told of both. */
export async function offeredTools(client: Client, signal: AbortSignal): Promise<readonly McpTool[]> {
  const tools = new Map<string, McpTool>();
  for (const offered of await allTools(client, signal)) {
    const tool = toolOf(offered);
    if (tool && !tools.has(tool.name)) tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

/** One tool that is not described as the protocol wants would cost a server all of them. */
async function allTools(client: Client, signal: AbortSignal): Promise<readonly unknown[]> {
  try {
    return (await client.listTools(undefined, { signal, cacheMode: "refresh" })).tools;
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== SdkErrorCode.InvalidResult) throw cause;
    return toolsAsTheyAre(client, signal);
  }
}

async function toolsAsTheyAre(client: Client, signal: AbortSignal): Promise<readonly unknown[]> {
  const tools: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const request = { method: "tools/list", ...(cursor !== undefined && { params: { cursor } }) };
    const result = await client.request(request, anyFields, { signal });
    if (Array.isArray(result.tools)) for (const one of result.tools) tools.push(one);
    if (typeof result.nextCursor !== "string") break;
    cursor = result.nextCursor;
  }
  return tools;
}

const anyFields: StandardSchemaV1<unknown, Fields> = {
  "~standard": { version: 1, vendor: "lathe", validate: (value) => ({ value: fieldsOf(value) ?? {} }) },
};

/** Nothing without a name to call it by; what is no schema of an object leaves it to the server what it takes. */
function toolOf(offered: unknown): McpTool | undefined {
  const { name, title, description = title, inputSchema, annotations } = fieldsOf(offered) ?? {};
  if (typeof name !== "string" || name === "") return undefined;
  const schema: JsonSchema = { ...fieldsOf(inputSchema), type: "object" };
  const isLong = JSON.stringify(schema).length > schemaChars;
  return {
    name,
    description: typeof description === "string" ? description.slice(0, descriptionChars) : "",
    parameters: isLong ? { type: "object" } : schema,
    readOnly: fieldsOf(annotations)?.readOnlyHint === true,
  };
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
