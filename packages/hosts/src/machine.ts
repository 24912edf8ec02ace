/** Machine: what Lathe needs and finds here, each with how to mend it. */
import { accessSync, constants, mkdirSync, statfsSync } from "node:fs";
import { isFailure } from "@lathe/protocol";
import { chooseModels } from "./choose-models.ts";
import { stateFolder } from "./state-folder.ts";

export interface Finding {
  readonly name: string;
  /** `bad`: Lathe cannot work; `weak`: it can, with less. */
  readonly state: "good" | "weak" | "bad";
  readonly text: string;
  /** What to do about it. */
  readonly mend?: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** *Contract:* looks at everything at once, in the order given here; never rejects. */
export function examineMachine(env: Env): Promise<readonly Finding[]> {
  return Promise.all([node(), git(), sandbox(), search(), models(env), state(env), disk(env)]);
}

const oldestNode = [22, 13] as const;

async function node(): Promise<Finding> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const text = `${process.versions.node} (${process.execPath})`;
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) {
    return { name: "node", state: "good", text };
  }
  return { name: "node", state: "bad", text, mend: "install Node 22.13 or newer" };
}

async function git(): Promise<Finding> {
  const version = await outputOf("git", ["--version"]);
  if (version !== undefined) return { name: "git", state: "good", text: version.replace("git version ", "") };
  return {
    name: "git",
    state: "weak",
    text: "not found",
    mend: "install git, to see and undo what was changed",
  };
}

async function sandbox(): Promise<Finding> {
  const { probeDriver } = await import("@lathe/sandbox");
  const { driver, reasons } = await probeDriver();
  const why = reasons.length > 0 ? ` (${reasons.join("; ")})` : "";
  const text = `${driver.name}, ${driver.tier}${why}`;
  if (driver.tier === "full") return { name: "sandbox", state: "good", text };
  const mend = "install bubblewrap (for example: apt install bubblewrap), or run with --no-sandbox";
  return { name: "sandbox", state: "weak", text, mend };
}

/** By searching this folder: what counts is that ripgrep starts. */
async function search(): Promise<Finding> {
  const { createSearch } = await import("@lathe/search");
  const query = { glob: "*.ts", limit: 1 };
  const found = await createSearch({ root: import.meta.dirname }).files(query, AbortSignal.timeout(5000));
  if (!isFailure(found)) return { name: "search", state: "good", text: "ripgrep" };
  return { name: "search", state: "bad", text: found.text, mend: "install lathe again" };
}

/** Names of keys only, never their values. */
async function models(env: Env): Promise<Finding> {
  const { providers } = await import("@lathe/models");
  const keys = Object.values(providers).flatMap(({ keyVariables }) => keyVariables.filter((key) => env[key]));
  const model = chooseModels([], env).join(", ");
  if (keys.length > 0)
    return { name: "models", state: "good", text: `${keys.join(", ")} set; default ${model}` };
  const mend = "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY for a language model";
  return { name: "models", state: "weak", text: `no key; ${model} makes failing tests pass`, mend };
}

async function state(env: Env): Promise<Finding> {
  const folder = stateFolder(env);
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return { name: "state", state: "good", text: folder };
  } catch (error) {
    const text = `${folder} cannot be written (${(error as NodeJS.ErrnoException).code})`;
    return { name: "state", state: "bad", text, mend: "make it writable, or set XDG_STATE_HOME" };
  }
}

const littleSpace = 500e6;

async function disk(env: Env): Promise<Finding> {
  try {
    const { bavail, bsize } = statfsSync(stateFolder(env));
    const free = bavail * bsize;
    const text = `${(free / 1e9).toFixed(1)} GB free`;
    if (free > littleSpace) return { name: "disk", state: "good", text };
    return { name: "disk", state: free > littleSpace / 50 ? "weak" : "bad", text, mend: "free some space" };
  } catch {
    return { name: "disk", state: "weak", text: "free space unknown" };
  }
}

async function outputOf(file: string, args: readonly string[]): Promise<string | undefined> {
  const { execFile } = await import("node:child_process");
  const { promisify } = await import("node:util");
  try {
    const { stdout } = await promisify(execFile)(file, [...args], { timeout: 5000 });
    return stdout.trim();
  } catch {
    return undefined;
  }
}
