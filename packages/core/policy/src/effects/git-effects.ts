/**
 * Effects of git commands: on this repository, on shared or unsaved work, on existing commits, and over the
 * network.
 */

import type { Effect, Trait } from "@lathe/protocol";
import { append } from "../append.ts";
import type { FoundCall } from "../programs/found-call.ts";
import { type GitCall, gitCall, gitSubcommands } from "../programs/git-call.ts";
import { isAddress, namedHost } from "../programs/named-host.ts";
import { hasOption, optionValues, type ProgramCall, positional } from "../programs/program-call.ts";
import type { Word } from "../shell/word.ts";
import { wordEffects } from "../shell/word-paths.ts";

type Grave = (args: readonly Word[]) => boolean;

const always: Grave = () => true;
const first =
  (...names: readonly string[]): Grave =>
  (args) =>
    names.includes(positional(args)[0]?.text ?? "");

/** Subcommands that can change shared state or destroy work irreversibly, and when they do. */
const grave: Readonly<Record<string, Grave>> = {
  push: (args) => !hasOption(args, "-n", "--dry-run"),
  "send-pack": always,
  "http-push": always,
  subtree: first("push"),
  lfs: first("push", "prune", "migrate"),
  svn: first("dcommit"),
  p4: first("submit"),
  "request-pull": always,
  clean: (args) => !hasOption(args, "-n", "--dry-run") && hasOption(args, "-x", "-X"),
  checkout: (args) => hasOption(args, "-B"),
  switch: (args) => hasOption(args, "-C", "--force-create"),
  stash: first("drop", "clear"),
  branch: isGraveBranch,
  tag: (args) => hasOption(args, "-d", "--delete", "-f", "--force"),
  worktree: (args) => first("remove", "prune")(args) && hasOption(args, "-f", "--force"),
  reflog: first("expire", "delete"),
  gc: (args) => hasOption(args, "--prune", "--aggressive"),
  prune: always,
  repack: (args) => hasOption(args, "-d", "-a", "-A"),
  "update-ref": always,
  "symbolic-ref": (args) => positional(args).length > 1 || hasOption(args, "-d", "--delete"),
  "filter-branch": always,
  "filter-repo": always,
  replace: always,
  "fast-import": always,
  remote: first("set-url", "remove", "rm"),
  config: isGraveConfig,
  notes: first("remove", "prune"),
  submodule: (args) =>
    first("deinit", "foreach")(args) && (hasOption(args, "-f", "--force") || first("foreach")(args)),
  "update-index": (args) => hasOption(args, "--assume-unchanged", "--skip-worktree"),
  credential: always,
  "send-email": always,
  daemon: always,
  instaweb: always,
};

/** Subcommands that discard uncommitted changes, and when they do. */
const discarding: Readonly<Record<string, Grave>> = {
  clean: (args) => !hasOption(args, "-n", "--dry-run"),
  reset: (args) => hasOption(args, "--hard", "--merge", "--keep"),
  restore: (args) => !hasOption(args, "--staged", "-S") || hasOption(args, "--worktree", "-W"),
  checkout: isGraveCheckout,
  "checkout-index": (args) => hasOption(args, "-f", "--force"),
  "read-tree": (args) => hasOption(args, "-u", "--reset"),
  switch: (args) => hasOption(args, "-f", "--force", "--discard-changes"),
  rm: (args) => hasOption(args, "-f", "--force") && !hasOption(args, "--cached"),
};

/** Subcommands that are read-only, or judged elsewhere. */
const lookers: ReadonlySet<string> = new Set(
  (
    "annotate archive blame bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format cherry " +
    "column count-objects describe diff diff-files diff-index diff-tree difftool fast-export fetch fetch-pack " +
    "fmt-merge-msg for-each-ref format-patch fsck get-tar-commit-id grep gui help interpret-trailers log ls-files " +
    "ls-remote ls-tree mailinfo mailsplit merge-base merge-tree name-rev patch-id range-diff rev-list rev-parse " +
    "shortlog show show-branch show-index show-ref status stripspace var verify-commit verify-pack verify-tag version " +
    "whatchanged clone init"
  ).split(" "),
);

const shared: ReadonlySet<string> = new Set(
  "push send-pack http-push subtree lfs svn p4 send-email request-pull".split(" "),
);
const rewriting: ReadonlySet<string> = new Set(
  "rebase filter-branch filter-repo replace reset replay".split(" "),
);
const remote: ReadonlySet<string> = new Set(
  "fetch fetch-pack pull clone ls-remote push send-pack send-email lfs svn p4".split(" "),
);
const runs =
  /alias|command|pager|editor|hookspath|filter|textconv|external|fsmonitor|helper|askpass|insteadof|proxy|sslverify|include|template|program|protocol|uploadpack|receivepack|attributesfile|worktree|driver|cmd/iu;
/** Settings whose command only shows text. */
const plainSetting = /^(?:core\.)?(?:pager(?:\.\w+)?|editor)=(?:cat|less|more|head|true|false|:)?$/iu;

type GitContext = Pick<FoundCall, "assignments" | "gitAliases" | "isGitElsewhere">;

export function gitEffects({ args: words }: ProgramCall, found: GitContext): readonly Effect[] {
  const call = gitCall(words);
  const { subcommand, args, globals } = call;
  if (isHelp(args)) return [];
  const target = ["git", subcommand, ...args.map(({ raw }) => raw)].join(" ").trim();
  const effects: Effect[] = [];
  const traits = traitsOf(call, found);
  if (traits) effects.push({ kind: "vcs", target, traits });
  // The place of the work that may be lost.
  if (traits?.includes("discards"))
    effects.push(
      ...[here, ...optionValues(globals, "-C")].slice(-1).flatMap((word) => wordEffects("write", word)),
    );
  if (isRemote(subcommand, args)) append(effects, remoteEffects(args, target));
  if (subcommand === "archive")
    effects.push(
      ...optionValues(args, "--remote")
        .filter(({ text }) => isAddress(text))
        .flatMap(({ text }) => namedHost(text)),
    );
  if (subcommand === "init" && positional(args).length > 0)
    effects.push(
      ...positional(args)
        .slice(-1)
        .flatMap((word) => wordEffects("write", word)),
    );
  if (subcommand === "rm" && !hasOption(args, "--cached")) {
    append(
      effects,
      positional(args).flatMap((word) => wordEffects("delete", word)),
    );
  }
  if (subcommand === "mv")
    // If the shell computes the name, git moves a file within the repository.
    effects.push(
      ...positional(args)
        .slice(-1)
        .filter(({ isLiteral }) => isLiteral)
        .flatMap((word) => wordEffects("write", word)),
    );
  return effects;
}

const here: Word = { text: ".", glob: ".", isLiteral: true, raw: "." };

function isHelp(args: readonly Word[]): boolean {
  return args.some(({ text }) => text === "--help") || (args.length === 1 && args[0]?.text === "-h");
}

/** Options that name another repository. */
const elsewhere = /^(?:--git-dir|--work-tree|--exec-path)\b/u;
const elsewhereSet = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR|CONFIG\w*)=/u;

function traitsOf(call: GitCall, found: GitContext): readonly Trait[] | undefined {
  const { subcommand, args, isKnown } = call;
  if (subcommand === "") return undefined;
  // An unknown subcommand may be an alias, or any program.
  const isAlias = isKnown && Object.hasOwn(found.gitAliases ?? {}, subcommand);
  const isOdd = !isKnown || !(gitSubcommands.has(subcommand) || isAlias);
  if (isOdd || isRunning(call)) return ["irreversible"];
  if (isOf(grave, call)) return graveTraits(subcommand, args);
  if (isOf(discarding, call)) return isOther(call, found) ? ["irreversible"] : discardTraits(subcommand);
  if (isAlias || lookers.has(subcommand)) return undefined;
  return isRewriting(call) ? ["local", "history"] : ["local"];
}

function isRewriting({ subcommand, args }: GitCall): boolean {
  return rewriting.has(subcommand) || (subcommand === "commit" && hasOption(args, "--amend"));
}

function isOf(table: Readonly<Record<string, Grave>>, { subcommand, args }: GitCall): boolean {
  return Object.hasOwn(table, subcommand) && table[subcommand]?.(args) === true;
}

/** Settings, transports and templates that run something. */
function isRunning({ subcommand, args, globals }: GitCall): boolean {
  const settings = subcommand === "clone" ? [...globals, ...optionValues(args, "-c", "--config")] : globals;
  return (
    settings.some(({ text }) => text.includes("=") && runs.test(text) && !plainSetting.test(text)) ||
    args.some(({ text }) => /^[a-z][\w+.-]*::/u.test(text)) ||
    hasOption(args, "--template")
  );
}

/** Whether it uses a repository other than that of the current folder. */
function isOther({ globals }: GitCall, { assignments, isGitElsewhere }: GitContext): boolean {
  return (
    isGitElsewhere === true ||
    globals.some(({ text }) => elsewhere.test(text)) ||
    assignments.some((one) => elsewhereSet.test(one))
  );
}

function discardTraits(subcommand: string): readonly Trait[] {
  return rewriting.has(subcommand) ? ["local", "history", "discards"] : ["local", "discards"];
}

function graveTraits(subcommand: string, args: readonly Word[]): readonly Trait[] {
  const isHistory = rewriting.has(subcommand) || (subcommand === "push" && isForced(args));
  const traits: Trait[] = shared.has(subcommand) ? ["shared"] : [];
  return [...traits, ...(isHistory ? (["history"] as const) : []), "irreversible"];
}

function isForced(args: readonly Word[]): boolean {
  return args.some(({ text }) =>
    /^(?:-\w*f\w*|--force.*|--mirror|--delete|-d|--prune|\+.*|:.+)$/u.test(text),
  );
}

/** Switching branches keeps unsaved work; naming files, or forcing, overwrites it. */
function isGraveCheckout(args: readonly Word[]): boolean {
  if (hasOption(args, "-f", "--force", "--ours", "--theirs")) return true;
  if (hasOption(args, "-b", "--orphan")) return false;
  const names = positional(args);
  if (args.some(({ text }) => text === "--") || names.length > 1 || names.some(({ isLiteral }) => !isLiteral))
    return true;
  return names.some(
    ({ text }) => text === "." || text.endsWith("/") || /\.[A-Za-z]\w{0,5}$|[*?]|^:/u.test(text),
  );
}

function isGraveBranch(args: readonly Word[]): boolean {
  // With `-d` alone git keeps unmerged branches.
  return hasOption(args, "-D", "-M", "-C", "-f", "--force");
}

/**
 * Settings that name programs which run with the next git command here; the user's settings apply everywhere.
 */
function isGraveConfig(args: readonly Word[]): boolean {
  const values = optionValues(args, "-f", "--file", "--blob", "--type", "--default", "--comment");
  const [name, ...more] = positional(args.filter((word) => !values.includes(word))).filter(
    ({ text }) => !["get", "list", "set", "unset"].includes(text),
  );
  if (hasOption(args, "--get", "--list", "--get-all", "--get-regexp", "-l")) return false;
  if (hasOption(args, "--global", "--system", "-e", "--edit") && (more.length > 0 || name === undefined))
    return true;
  if (hasOption(args, "--remove-section", "--rename-section")) return true;
  return name !== undefined && more.length > 0 && (runs.test(name.text) || !name.isLiteral);
}

function isRemote(subcommand: string, args: readonly Word[]): boolean {
  if (subcommand === "submodule") return first("update", "add")(args);
  if (subcommand === "remote") return first("update", "show", "prune")(args);
  return remote.has(subcommand) && !isLocalClone(subcommand, args);
}

function isLocalClone(subcommand: string, args: readonly Word[]): boolean {
  return subcommand === "clone" && /^\.{0,2}\//u.test(positional(args)[0]?.text ?? "");
}

/** The named host; otherwise a remote of the repository, whatever its address. */
function remoteEffects(args: readonly Word[], target: string): readonly Effect[] {
  const addresses = positional(args).filter(
    ({ text }) => isAddress(text) || /^[\w.-]+\.[\w.-]+:/u.test(text),
  );
  const named = addresses.flatMap(({ text }) => namedHost(text));
  return named.length > 0 ? named : [{ kind: "network", target }];
}
