/** @lathe/tools: the built-in tools, one file each. */
export { builtinTools } from "./src/builtin-tools.ts";
export { defineTool, type Input, type ToolDefinition } from "./src/define-tool.ts";
export { mcpName } from "./src/mcp-name.ts";
export { createPlan, type Plans } from "./src/plan.ts";
export { createRemember, type Memory, type MemoryScope } from "./src/remember.ts";
export {
  backgroundProcesses,
  endingsOf,
  hasEnding,
  markTyped,
  printedBy,
  stateText,
  stopForUser,
  toldEndings,
} from "./src/running/background.ts";
export { createShell, type ShellOptions } from "./src/running/shell.ts";
export { createSkill, type Skill } from "./src/skill.ts";
export { createTask } from "./src/task.ts";
