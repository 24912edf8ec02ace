/** @lathe/sdk/published: the part whose types the published package carries; it names no package but protocol and rpc. */
export type { AgentSession, Happening } from "./src/agent-session.ts";
export { defineTool, type OwnTool } from "./src/own-tool.ts";
export type { SessionOptions, Words } from "./src/session-options.ts";
