/** Adds the MCP servers that the person configured in the editor. */
import type { McpServer } from "@agentclientprotocol/sdk";
import type { AgentOptions } from "@lathe/config";

type Servers = NonNullable<AgentOptions["mcpServers"]>;
type Pairs = readonly { readonly name: string; readonly value: string }[];

/** Adds an editor's servers; the user's own configuration wins. */
export function withEditorServers(options: AgentOptions, given: readonly McpServer[] = []): AgentOptions {
  const servers = given.flatMap((server): readonly (readonly [string, Servers[string]])[] => {
    if (!("type" in server)) {
      const { name, command, args, env } = server;
      return [[name, { command, args, env: recordOf(env) }]];
    }
    if (server.type === "http")
      return [[server.name, { url: server.url, headers: recordOf(server.headers) }]];
    options.onRemark?.(`the MCP server ${server.name} is left out: only stdio and http are spoken`);
    return [];
  });
  const own = Object.fromEntries(servers);
  return {
    ...options,
    mcpServers: { ...own, ...options.mcpServers },
    writtenServers: { ...own, ...options.writtenServers },
  };
}

function recordOf(pairs: Pairs): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
