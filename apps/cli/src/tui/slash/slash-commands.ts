/** The slash commands, in the order of the help; one more is one more line. */
import { agentsCommand } from "./agents.ts";
import { bestOfCommand } from "./best-of.ts";
import { clearCommand } from "./clear.ts";
import { compactCommand } from "./compact.ts";
import { contextCommand } from "./context.ts";
import { copyCommand } from "./copy.ts";
import { costCommand } from "./cost.ts";
import { diffCommand } from "./diff.ts";
import { effortCommand } from "./effort.ts";
import { exportCommand } from "./export.ts";
import { forkCommand } from "./fork.ts";
import { helpCommand } from "./help.ts";
import { leaveCommand } from "./leave.ts";
import { mcpCommand } from "./mcp.ts";
import { memoryCommand } from "./memory.ts";
import { modelCommand } from "./model.ts";
import { nameCommand } from "./name.ts";
import { outputCommand } from "./output.ts";
import { permissionsCommand } from "./permissions.ts";
import { planCommand } from "./plan.ts";
import { processesCommand } from "./processes.ts";
import { resumeCommand } from "./resume.ts";
import { rewindCommand } from "./rewind.ts";
import type { SlashCommand } from "./slash-command.ts";

const others: readonly SlashCommand[] = [
  modelCommand,
  effortCommand,
  planCommand,
  permissionsCommand,
  diffCommand,
  outputCommand,
  copyCommand,
  processesCommand,
  costCommand,
  contextCommand,
  compactCommand,
  rewindCommand,
  forkCommand,
  resumeCommand,
  nameCommand,
  exportCommand,
  agentsCommand,
  bestOfCommand,
  memoryCommand,
  mcpCommand,
  clearCommand,
  leaveCommand,
];

export const slashCommands: readonly SlashCommand[] = [...others, helpCommand(() => slashCommands)];
