/**
 * `lathe __complete`: lists values for completion scripts, one per line, each with a description after a tab.
 */

import type { Config } from "@lathe/config";
import { type CompletedValue, completedForks, completedModels, completedSessions } from "@lathe/hosts/tools";
import { isFailure } from "@lathe/protocol";
import type { Command } from "../command-line/command.ts";

export const completeCommand: Command = {
  name: "__complete",
  about: "Lists what a word may be, for completion scripts.",
  usage: ["__complete sessions|models|forks|servers|tools"],
  flags: {},
  run,
};

/** Ignores failures: a completion script can only show values. */
async function run([kind = ""]: readonly string[]): Promise<number> {
  const found = await valuesOf(kind);
  process.stdout.write(found.map(({ value, about }) => `${plain(value)}\t${plain(about)}\n`).join(""));
  return 0;
}

async function valuesOf(kind: string): Promise<readonly CompletedValue[]> {
  if (kind === "sessions") return completedSessions(process.env);
  if (kind === "forks") return completedForks(process.env);
  if (kind === "tools") return completedTools();
  if (kind !== "models" && kind !== "servers") return [];
  const config = await readConfig();
  if (!config) return [];
  if (kind === "models") return completedModels({ env: process.env, ...config });
  return Object.keys(config.mcpServers).map((value) => ({ value, about: "" }));
}

/** The tools that `lathe tool` has in this folder. */
async function completedTools(): Promise<readonly CompletedValue[]> {
  const [{ agentOptions }, { withWorkbench }] = await Promise.all([
    import("../run/run-options.ts"),
    import("../run/with-workbench.ts"),
  ]);
  const options = await agentOptions({}, () => undefined);
  if (isFailure(options)) return [];
  const found = await withWorkbench(options, async ({ specs }) =>
    specs.map(({ name, description }) => ({ value: name, about: description })),
  );
  return typeof found === "number" || isFailure(found) ? [] : found;
}

async function readConfig(): Promise<Config | undefined> {
  const { loadConfig } = await import("@lathe/config");
  const config = await loadConfig(process.cwd(), process.env, {});
  return isFailure(config) ? undefined : config;
}

/** Cleans a title, which must not control a terminal or look like another line. */
function plain(text: string): string {
  const [line = ""] =
    text
      .replace(/\p{C}+/gu, " ")
      .trim()
      .match(/^.{0,60}/u) ?? [];
  return line;
}
