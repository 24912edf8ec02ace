/** `/permissions`: shows the mode, and the rules allowed for the session and the project. */
import { type Failure, failure, isFailure, type Mode, modes, type Rule } from "@lathe/protocol";
import { ruleText } from "@lathe/terminal";
import type { CommandContext, SharedCommand } from "./command-context.ts";

const abouts: Readonly<Record<Mode, string>> = {
  ask: "asks before anything that changes something",
  auto: "asks before what is risky",
  plan: "looks and plans, changes nothing",
  "read-only": "only reads",
};

export const permissionsCommand: SharedCommand = {
  name: "permissions",
  usage: "[MODE]",
  about: "what the agent may do unasked; a mode changes it",
  run: async (chat, words) => (words === "" ? shown(chat) : changed(chat, words)),
};

async function shown(chat: CommandContext): Promise<readonly string[] | Failure> {
  const { readProjectRules } = await import("@lathe/extensions");
  const { env, cwd, mode } = chat.conversation.options;
  const kept = readProjectRules(env, cwd);
  if (isFailure(kept)) return kept;
  const { bold, dim } = chat.theme;
  const rules = chat.conversation.session?.session().rules ?? [];
  const list = (title: string, some: readonly Rule[]): readonly string[] =>
    some.length === 0 ? [] : [bold(title), ...some.map((rule) => `  ${ruleText(rule)}`)];
  return [
    "",
    `${bold(mode)} ${dim(abouts[mode])}`,
    ...list("Allowed for this session", rules),
    ...list("Allowed for this project", kept),
    dim(
      "Change the mode: /permissions ask, auto, plan or read-only. Rules of the project: lathe policy rules",
    ),
  ];
}

async function changed(chat: CommandContext, words: string): Promise<readonly string[] | Failure> {
  const mode = modes.find((one) => one === words);
  if (!mode)
    return failure("invalid-arguments", `the modes are ${modes.join(", ")}, not ${words}`, { who: "user" });
  chat.conversation.setMode(mode);
  return [chat.theme.dim(`Permissions: ${mode}${chat.isWorking ? " from the next turn on" : ""}.`)];
}
