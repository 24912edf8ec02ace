/** @lathe/acp: serves sessions to an editor over the Agent Client Protocol. */
export { type AcpServer, type Connected, type Program, serveAcp } from "./src/serve-acp.ts";
