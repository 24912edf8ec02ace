/** Grade: a task's tests run on what an agent left, in a folder and a sandbox that it never had. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, isFailure } from "@lathe/protocol";
import { lastWords, type Shell } from "../shell.ts";
import type { Build } from "../tasks/dockerfile.ts";
import { type Places, relocateFiles } from "../tasks/relocate.ts";
import type { Task } from "../tasks/task.ts";
import { copyFolder, environmentOf } from "./build-environment.ts";
import { carryOver } from "./carry-over.ts";
import type { TrialOutcome } from "./trial.ts";

export interface GradePlace {
  /** Empty; the shell may write it. */
  readonly folder: string;
  readonly shell: Shell;
  /** The variable PATH. */
  readonly path: string;
  /** What the agent began with. */
  readonly base: string;
  /** What it left. */
  readonly agent: string;
}

export async function grade(task: Task, build: Build, place: GradePlace): Promise<TrialOutcome | Failure> {
  const { folder, shell, path, base, agent } = place;
  const app = join(folder, "app");
  if (task.protectTests) {
    await copyFolder(base, app);
    await carryOver(agent, base, app);
  } else await copyFolder(agent, app);
  const tests = join(folder, "tests");
  const verifier = join(folder, "logs", "verifier");
  mkdirSync(verifier, { recursive: true });
  await cp(join(task.folder, "tests"), tests, { recursive: true, verbatimSymlinks: true });
  const places = placesOf(folder, build);
  relocateFiles(tests, places, task.isMined);
  const ran = await shell({
    script: `bash ${join(tests, "test.sh")}`,
    cwd: app,
    timeoutMs: task.seconds.verifier * 1000,
    env: environmentOf({ ...build.env, ...task.verifierEnv }, places, path),
  });
  if (isFailure(ran)) return ran;
  const rewards = readRewards(verifier);
  if (rewards)
    return { type: "graded", rewards, reward: rewards.reward ?? Math.min(...Object.values(rewards)) };
  const why = ran.timedOut ? `they take longer than ${task.seconds.verifier} s` : lastWords(ran.output);
  return { type: "not-run", why: `its tests gave no reward: ${why}` };
}

/** An image's folders, in one here. */
export function placesOf(folder: string, { workdir }: Build): Places {
  const names = ["tests", "logs", "solution"].map((name) => [`/${name}`, join(folder, name)] as const);
  return { ...Object.fromEntries(names), [workdir]: join(folder, "app") };
}

/** Undefined when there are none that are numbers. */
function readRewards(folder: string): Readonly<Record<string, number>> | undefined {
  const [text, json] = ["reward.txt", "reward.json"].map((name) => join(folder, name)) as [string, string];
  if (existsSync(json)) return numbers(parsed(readFileSync(json, "utf8")));
  if (!existsSync(text)) return undefined;
  const words = readFileSync(text, "utf8").trim();
  return words === "" ? undefined : numbers(Number(words));
}

function numbers(value: unknown): Readonly<Record<string, number>> | undefined {
  const table = typeof value === "number" ? { reward: value } : value;
  if (typeof table !== "object" || table === null) return undefined;
  const entries = Object.entries(table);
  const isWhole =
    entries.length > 0 && entries.every(([, one]) => typeof one === "number" && Number.isFinite(one));
  return isWhole ? (Object.fromEntries(entries) as Record<string, number>) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
