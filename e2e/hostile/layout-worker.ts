/**
 * A process that opens layouts: makes each layout, runs the command on it in this process, and reports the
 * canaries that ran.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startWireServer } from "@lathe/testkit";
import { call, say } from "../answer-parts.ts";
import { giveLauncher } from "../compiled-launcher.ts";
import { wireEnv } from "../lathe.ts";
import { makeLayout } from "./layout.ts";
import type { Ground } from "./layout-config.ts";
import type { LayoutRange, LayoutReport } from "./layout-range.ts";

type Call = readonly [tool: string, input: object];

interface Route {
  readonly name: string;
  readonly calls?: readonly Call[];
  readonly commands: readonly (readonly string[])[];
}

/** `ID` is replaced by the newest session's ID. */
const routes: readonly Route[] = [
  { name: "hello", commands: [["run", "hello"]] },
  { name: "hello without a sandbox", commands: [["run", "--no-sandbox", "hello"]] },
  { name: "worktree", commands: [["run", "--worktree", "hello"]] },
  {
    name: "diagnostics",
    calls: [["diagnostics", {}]],
    commands: [["run", "hello"]],
  },
  {
    name: "diff and rewind",
    calls: [
      ["write", { path: "new.txt", content: "new\n" }],
      ["delete", { path: "a.txt" }],
    ],
    commands: [
      ["run", "hello"],
      ["sessions", "diff", "ID"],
      ["sessions", "rewind", "ID", "--force"],
    ],
  },
  { name: "search", commands: [["search", "value"], ["grep", "value"], ["index"]] },
  {
    name: "policy check",
    commands: [
      ["policy", "check", "git reset --hard"],
      ["policy", "check", "git st && git clean -fdx && npm test"],
    ],
  },
  {
    name: "tools",
    calls: [
      ["grep", { pattern: "value" }],
      ["find_files", { glob: "**/*" }],
      ["search_code", { query: "value" }],
      ["symbols", { path: "a.ts" }],
      ["edit", { path: "a.ts", edits: [{ old: "export", new: "export " }] }],
    ],
    commands: [["run", "hello"]],
  },
  { name: "lists", commands: [["doctor"], ["mcp", "list"], ["hooks", "list"], ["memory", "list"]] },
];
const fileCalls: readonly Call[] = [["write", { path: "new.txt", content: "new\n" }]];
/** These start processes of their own, so they are tried less often. */
const slowRoutes: readonly Route[] = [
  { name: "best of two", calls: fileCalls, commands: [["run", "--best-of", "2", "hello"]] },
  { name: "fork", calls: fileCalls, commands: [["run", "--fork", "--keep", "hello"]] },
  {
    name: "best of two in working trees",
    calls: fileCalls,
    commands: [["run", "--best-of", "2", "--worktree", "hello"]],
  },
];
const slowEvery = 25;

const main = await loadMain();
const [, , root = ""] = process.argv;
const [canaries, marks, home, temp] = ["canaries", "marks", "home", "tmp"].map((name) => {
  mkdirSync(join(root, name));
  return join(root, name);
}) as [string, string, string, string];
giveLauncher(home);
let queue: Call[] = [];
const server = await startWireServer((_, index) => {
  const next = queue.shift();
  return { parts: [next ? call(`c${index}`, next[0], next[1]) : say("done")] };
});
const ownPath = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((folder) => folder.startsWith("/"))
  .join(delimiter);
Object.assign(process.env, wireEnv(server.url), { HOME: home, TMPDIR: temp, LATHE_KEEP: "off" });
// Code that starts itself again, as attempts do, starts the command.
process.argv[1] = fileURLToPath(new URL("../../apps/cli/bin/lathe.mjs", import.meta.url));
let printed = "";
process.stdout.write = (chunk: unknown): boolean => {
  printed += String(chunk);
  return true;
};
process.stderr.write = (): boolean => true;

process.on("message", async ({ from, to, step }: LayoutRange) => {
  for (let seed = from; seed < to; seed += step) report(await tryLayout(seed));
  await server.close();
  process.disconnect();
  process.exit(0);
});

function report(told: LayoutReport): void {
  process.send?.(told);
}

async function tryLayout(seed: number): Promise<LayoutReport> {
  const folder = join(root, `layout${seed}`);
  mkdirSync(folder);
  const ground = { root: folder, ...canaryMaker() };
  const { cwd, path, about } = makeLayout(seed, ground);
  process.env.PATH = [...path, ownPath].join(delimiter);
  process.env.XDG_STATE_HOME = join(folder, "state");
  const route = routeOf(seed);
  process.chdir(cwd);
  try {
    for (const words of route.commands) await runCommand(words, route);
  } finally {
    process.chdir(root);
  }
  const ran = readdirSync(marks);
  for (const name of ran) rmSync(join(marks, name));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  return { seed, about, route: route.name, ran };
}

function routeOf(seed: number): Route {
  const [all, at] = seed % slowEvery === 0 ? [slowRoutes, seed / slowEvery] : [routes, seed];
  const route = all[at % all.length];
  if (route === undefined) throw new Error("no route");
  return route;
}

async function runCommand(words: readonly string[], { calls = [] }: Route): Promise<void> {
  // Attempts may ask in any order, so all get the same answers.
  queue = [...calls];
  const id = words.includes("ID") ? await newestId() : "";
  await main(words.map((word) => (word === "ID" ? id : word)));
}

async function newestId(): Promise<string> {
  printed = "";
  await main(["sessions", "list", "--json"]);
  const [{ id = "none" } = {}] = JSON.parse(printed || "[]") as readonly { readonly id?: string }[];
  return id;
}

/** Outside the workspace, so that a sandbox has neither the programs nor their marks. */
function canaryMaker(): Pick<Ground, "canary" | "texts"> {
  const mark = (name: string): string => join(marks, name.replace(/[^\w.-]/gu, "_"));
  const texts = {
    shell: (name: string): string => `#!/bin/sh\necho ran >> '${mark(name)}'\ntest $# -gt 0 || cat\n`,
    node: (name: string): string =>
      `try { require("node:fs").writeFileSync(${JSON.stringify(mark(name))}, "ran") } catch {}\n`,
  };
  return {
    texts,
    canary: (name) => {
      const path = join(canaries, name.replace(/[^\w.-]/gu, "_"));
      if (!existsSync(path)) writeFileSync(path, texts.shell(name));
      chmodSync(path, 0o755);
      return path;
    },
  };
}

async function loadMain(): Promise<(argv: readonly string[]) => Promise<number>> {
  const entry = new URL("../../apps/cli/src/main.ts", import.meta.url);
  return ((await import(entry.href)) as { readonly main: (argv: readonly string[]) => Promise<number> }).main;
}
