/** @lathe/hosts/tools: the parts of this machine that commands use outside a session: sandbox, MCP servers, git, edits. */
export {
  type CompletedValue,
  completedForks,
  completedModels,
  completedSessions,
} from "./src/completed-values.ts";
export { createLazyMcp } from "./src/mcp/lazy-mcp.ts";
export { logInAt, logOutAt } from "./src/mcp/mcp-login.ts";
export { createBoxedGit } from "./src/repository/boxed-git.ts";
export {
  openLoneSandbox,
  type Verified,
  verifySandbox,
  wrongHost,
  wrongWritable,
} from "./src/sandbox/lone-sandbox.ts";
export { createEditJudge, type EditJudge, type JudgedEdit } from "./src/workbench/edit-judge.ts";
export { isTaken } from "./src/workbench/own-tools.ts";
