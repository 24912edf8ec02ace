/** Commands that are read-only whatever the repository contains, and the options with which they are not. */

import type { Word } from "../shell/word.ts";
import { gitCall } from "./git-call.ts";
import { hasOption, type ProgramCall, positional } from "./program-call.ts";

/** Program -> options (space-separated) with which it is no longer read-only. */
const lookers: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    (
      "ls pwd cat head tail wc grep egrep fgrep stat du df echo printf true false test [ : which type basename " +
      "dirname realpath readlink uname whoami id nproc free uptime cut tr nl rev tac column comm diff cmp md5sum " +
      "sha1sum sha256sum sha512sum cksum jq sleep cd seq od hexdump strings ps printenv wait jobs expr"
    )
      .split(" ")
      .map((name) => [name, ""]),
  ),
  rg: "--pre --hostname-bin",
  tree: "-o",
  file: "-C --compile",
  date: "-s --set",
  sort: "-o --output --compress-program -T --temporary-directory",
  fd: "-x --exec -X --exec-batch",
};

const findActions = /^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/u;
const versioned: ReadonlySet<string> = new Set(
  "node npm npx pnpm yarn bun python python3 pip pip3 go cargo rustc java javac tsc gcc g++ clang make cmake ruby".split(
    " ",
  ),
);

type Check = (args: readonly Word[]) => boolean;

const any: Check = () => true;
const noNames: Check = (args) => positional(args).length === 0;

const gitLookers: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(
    (
      "status diff log show blame rev-parse ls-files ls-tree cat-file describe shortlog grep merge-base rev-list " +
      "name-rev for-each-ref count-objects whatchanged check-ignore diff-tree show-ref version help"
    )
      .split(" ")
      .map((name) => [name, any]),
  ),
  branch: (args) => noNames(args) && !hasOption(args, "--edit-description", "--unset-upstream"),
  tag: noNames,
  remote: noNames,
  stash: (args) => ["list", "show"].includes(positional(args)[0]?.text ?? ""),
  config: (args) => hasOption(args, "--get", "--list", "--get-all", "-l"),
  reflog: (args) => ["show", ""].includes(positional(args)[0]?.text ?? ""),
};

/** Whether a call cannot change anything; commands that compute its words are judged separately. */
export function isLookingCall({ program, args, word, isUndecided, hasMoreArgs }: ProgramCall): boolean {
  if (isUndecided || !word.isLiteral || word.text !== program) return false;
  if (program === "[[" || program === "((") return true;
  const isOpen = hasMoreArgs || args.some(({ text, isLiteral }) => !isLiteral && /^[$`]/u.test(text));
  return isLooking(program, args, isOpen);
}

/** `isOpen`: there may be options that are not visible. */
function isLooking(program: string, args: readonly Word[], isOpen: boolean): boolean {
  const options = Object.hasOwn(lookers, program) ? lookers[program] : undefined;
  if (options !== undefined) return options === "" || !(isOpen || hasOption(args, ...options.split(" ")));
  if (isOpen) return false;
  if (program === "git") return isGitLooking(args);
  if (program === "find") return !args.some(({ text }) => findActions.test(text));
  if (program === "sed") return isSedPrinting(args);
  if (program === "uniq") return positional(args).length <= 1;
  if (program === "hostname" || program === "env") return args.length === 0;
  if (program === "command") return hasOption(args.slice(0, 1), "-v", "-V");
  if (versioned.has(program))
    return args.length === 1 && /^(--version|-v|-V|version)$/u.test(args[0]?.text ?? "");
  return false;
}

function isGitLooking(words: readonly Word[]): boolean {
  const { subcommand, args, globals } = gitCall(words);
  if (globals.some(({ text }) => !["--no-pager", "-P"].includes(text))) return false;
  if (hasOption(args, "--output", "--ext-diff", "--textconv", "--open-files-in-pager", "--exec"))
    return false;
  if (subcommand === "grep" && hasOption(args, "-O")) return false;
  return Object.hasOwn(gitLookers, subcommand) && gitLookers[subcommand]?.(args) === true;
}

/** Only `sed -n '<lines>p'`: other sed scripts can write files and run commands. */
function isSedPrinting(args: readonly Word[]): boolean {
  const [option, script, ...files] = args;
  return (
    option?.text === "-n" &&
    /^[\d,$]+p$/u.test(script?.text ?? "") &&
    files.every((file) => !file.text.startsWith("-"))
  );
}
