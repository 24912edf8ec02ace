/** @lathe/agent: one assembled agent, its ports still open. */
export type { AgentPorts, NewSession, RunOptions } from "./src/agent.ts";
export { runAgent } from "./src/run-agent.ts";
export { sessionCreated } from "./src/session-created.ts";
