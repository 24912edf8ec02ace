/** The slash commands, in the order of the help. */
import {
  agentsCommand,
  compactCommand,
  contextCommand,
  costCommand,
  diffCommand,
  effortCommand,
  exportCommand,
  mcpCommand,
  memoryCommand,
  modelCommand,
  nameCommand,
  permissionsCommand,
  planCommand,
  processesCommand,
} from "@lathe/client";
import { bestOfCommand } from "./best-of.ts";
import { clearCommand } from "./clear.ts";
import { copyCommand } from "./copy.ts";
import { forkCommand } from "./fork.ts";
import { helpCommand } from "./help.ts";
import { leaveCommand } from "./leave.ts";
import { outputCommand } from "./output.ts";
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
