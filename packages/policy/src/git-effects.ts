/** What git commands do to shared or unsaved work; commands that keep everything reachable have no effects here. */
import type { Effect } from "@lathe/protocol";
import { hasOption, type ProgramCall, positional } from "./program-call.ts";
import type { Word } from "./shell-lexer.ts";
import { wordEffects } from "./word-paths.ts";

type Grave = (args: readonly Word[]) => boolean;

const always: Grave = () => true;
const first =
  (...names: readonly string[]): Grave =>
  (args) =>
    names.includes(positional(args)[0]?.text ?? "");

/** Subcommands that can change shared state or destroy what no command brings back, and when they do. */
const grave: Readonly<Record<string, Grave>> = {
  push: always,
  clean: (args) => !hasOption(args, "-n", "--dry-run"),
  reset: (args) => hasOption(args, "--hard", "--merge", "--keep"),
  restore: (args) => !hasOption(args, "--staged", "-S") || hasOption(args, "--worktree", "-W"),
  checkout: isGraveCheckout,
  switch: (args) => hasOption(args, "-f", "--force", "--discard-changes", "-C", "--force-create"),
  stash: first("drop", "clear"),
  branch: (args) => hasOption(args, "-D", "-M", "-C", "-f", "--force") || hasOption(args, "-d", "--delete"),
  tag: (args) => hasOption(args, "-d", "--delete", "-f", "--force"),
  worktree: (args) => first("remove", "prune")(args) && hasOption(args, "-f", "--force"),
  reflog: first("expire", "delete"),
  gc: (args) => hasOption(args, "--prune", "--aggressive"),
  prune: always,
  "update-ref": always,
  "filter-branch": always,
  "filter-repo": always,
  replace: always,
  remote: first("set-url", "remove", "rm"),
  config: isGraveConfig,
  "send-email": always,
};

const remote: ReadonlySet<string> = new Set(
  "fetch pull clone ls-remote push send-email lfs svn p4".split(" "),
);
const runs = /alias|command|pager|editor|hookspath|filter|textconv|external|fsmonitor|helper|askpass/iu;
const valuedGlobals = ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];

export interface GitCall {
  readonly subcommand: string;
  readonly args: readonly Word[];
  readonly globals: readonly Word[];
}

/** Splits git's own options from the subcommand. */
export function gitCall(words: readonly Word[]): GitCall {
  let at = 0;
  while (words[at]?.text.startsWith("-")) at += valuedGlobals.includes(words[at]?.text ?? "") ? 2 : 1;
  return { subcommand: words[at]?.text ?? "", args: words.slice(at + 1), globals: words.slice(0, at) };
}

export function gitEffects({ args: words }: ProgramCall): readonly Effect[] {
  const { subcommand, args, globals } = gitCall(words);
  const target = ["git", subcommand, ...args.map(({ raw }) => raw)].join(" ").trim();
  const effects: Effect[] = [];
  const isGrave = Object.hasOwn(grave, subcommand) && grave[subcommand]?.(args);
  const isRunning = globals.some(({ text }) => text.includes("=") && runs.test(text));
  if (isGrave || isRunning) effects.push({ kind: "vcs", target });
  if (isRemote(subcommand, args)) effects.push({ kind: "network", target: remoteHost(args) ?? target });
  if (subcommand === "rm" && !hasOption(args, "--cached")) {
    effects.push(...positional(args).flatMap((word) => wordEffects("delete", word)));
  }
  return effects;
}

/** Switching branches keeps unsaved work; naming files, or forcing, overwrites it. */
function isGraveCheckout(args: readonly Word[]): boolean {
  if (hasOption(args, "-f", "--force", "-B", "--ours", "--theirs")) return true;
  if (hasOption(args, "-b", "--orphan")) return false;
  const names = positional(args);
  if (args.some(({ text }) => text === "--") || names.length > 1) return true;
  return names.some(
    ({ text }) => text === "." || text.endsWith("/") || /\.[A-Za-z]\w{0,5}$|[*?]/u.test(text),
  );
}

/** Settings that name programs are run later, by whoever uses git here. */
function isGraveConfig(args: readonly Word[]): boolean {
  const [name, ...more] = positional(args).filter(
    ({ text }) => !["get", "list", "set", "unset"].includes(text),
  );
  if (hasOption(args, "--get", "--list", "--get-all", "--get-regexp")) return false;
  return name !== undefined && more.length > 0 && runs.test(name.text);
}

function isRemote(subcommand: string, args: readonly Word[]): boolean {
  if (subcommand === "submodule") return first("update", "add")(args);
  if (subcommand === "remote") return first("update", "show", "prune")(args);
  return remote.has(subcommand) && !isLocalClone(subcommand, args);
}

function isLocalClone(subcommand: string, args: readonly Word[]): boolean {
  return subcommand === "clone" && /^\.{0,2}\//u.test(positional(args)[0]?.text ?? "");
}

function remoteHost(args: readonly Word[]): string | undefined {
  const urls = positional(args).map(
    ({ text }) => /^(?:\w+:\/\/(?:[^/@]*@)?|[\w.-]+@)([\w.-]+)/u.exec(text)?.[1],
  );
  return urls.find((host) => host !== undefined);
}
