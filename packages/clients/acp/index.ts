/** @lathe/acp: sessions behind an editor. */
export { type AcpServer, type Connected, type Program, serveAcp } from "./src/serve-acp.ts";
