/** @lathe/mcp: tools of other programs, from servers of the Model Context Protocol. */
export type { Login, LoginStore } from "./src/kept-login.ts";
export { openServers, type ServersOptions } from "./src/open-servers.ts";
