/** @lathe/mcp: other programs' tools, from servers of the Model Context Protocol. */
export { openServers, type ServersOptions } from "./src/open-servers.ts";
export type { HttpServer, ServerSpec, StdioServer } from "./src/server-spec.ts";
