/** Session tools: those beside the built-in ones, where there is something they can do. Loaded only then. */
import type { Tool, ToolSpec } from "@lathe/protocol";
import type { LocalOptions } from "./local-options.ts";

export interface SessionTools {
  readonly tools: readonly Tool[];
  /** *Contract:* ends what they started; idempotent. */
  close(): Promise<void>;
}

export const noSessionTools: SessionTools = { tools: [], close: async () => undefined };

/** `pinned`: those a session was begun with, which it keeps; absent for a new one. */
export async function openSessionTools(
  options: LocalOptions,
  pinned?: () => readonly ToolSpec[],
): Promise<SessionTools> {
  const { mcpServers, tools: own = [] } = options;
  if (!mcpServers || Object.keys(mcpServers).length === 0) return { ...noSessionTools, tools: own };
  const [{ createLazyMcp }, { mcpTools, pinnedMcpTools }] = await Promise.all([
    import("./lazy-mcp.ts"),
    import("@lathe/tools/mcp"),
  ]);
  const servers = createLazyMcp({ ...options, mcpServers });
  const tools = pinned ? pinnedMcpTools(pinned(), servers) : mcpTools(servers);
  return { tools: [...tools, ...own], close: () => servers.close() };
}
