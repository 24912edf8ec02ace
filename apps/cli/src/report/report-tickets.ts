/**
 * `lathe report tickets` and `lathe report fix ALERT`: turn alerts into issues of a tracker, and let an agent
 * investigate one.
 */

import { ownTickets, usage } from "@lathe/config";
import { alertTask, sendTickets } from "@lathe/hosts/measure";
import { type Failure, isFailure } from "@lathe/protocol";
import { plural } from "@lathe/terminal";
import { harnessVersion } from "../command-line/harness-version.ts";
import { agentOptions } from "../run/run-options.ts";

export async function reportTickets(): Promise<number | Failure> {
  const settings = await ownTickets(process.env);
  if (isFailure(settings)) return settings;
  if (!settings) {
    const example = '{"kind": "github", "repository": "owner/name"}';
    return usage(
      `no tracker is named: "tickets" in your own config.json, for example ${example}; without one, \`lathe report\` keeps tickets as files`,
    );
  }
  const sent = await sendTickets(process.env, settings, harnessVersion());
  if (isFailure(sent)) return sent;
  const where = settings.kind === "github" ? settings.repository : "Linear";
  process.stdout.write(`${plural(sent, "alert is", "alerts are")} up to date at ${where}\n`);
  return 0;
}

/** Works in a fork of this folder, and settles its changes at the end. */
export async function reportFix(key: string, model: string | undefined): Promise<number | Failure> {
  const chosen = model === undefined ? {} : { model };
  const options = await agentOptions(chosen);
  if (isFailure(options)) return options;
  const task = await alertTask(options, key);
  if (isFailure(task)) return task;
  const { runInFork } = await import("../forks/run-in-fork.ts");
  const flags = model === undefined ? [] : ["--model", model];
  return runInFork([...flags, "--", task], { cwd: ".", keep: false, about: `alert ${key}` });
}
