/** The slash commands, in the order of the help; one more is one more line. */
import { clearCommand } from "./clear.ts";
import { costCommand } from "./cost.ts";
import { diffCommand } from "./diff.ts";
import { exportCommand } from "./export.ts";
import { forkCommand } from "./fork.ts";
import { helpCommand } from "./help.ts";
import { leaveCommand } from "./leave.ts";
import { modelCommand } from "./model.ts";
import { nameCommand } from "./name.ts";
import { permissionsCommand } from "./permissions.ts";
import { planCommand } from "./plan.ts";
import { resumeCommand } from "./resume.ts";
import { rewindCommand } from "./rewind.ts";
import type { SlashCommand } from "./slash-command.ts";

const others: readonly SlashCommand[] = [
  modelCommand,
  planCommand,
  permissionsCommand,
  diffCommand,
  costCommand,
  rewindCommand,
  forkCommand,
  resumeCommand,
  nameCommand,
  exportCommand,
  clearCommand,
  leaveCommand,
];

export const slashCommands: readonly SlashCommand[] = [...others, helpCommand(() => slashCommands)];
