/** Replaced texts: whether a script may change a file after its text was judged and before it runs. */
import type { Effect } from "@lathe/protocol";
import { matchesText } from "../globs/glob.ts";
import type { FoundCall } from "../programs/found-call.ts";
import { gitCall } from "../programs/git-call.ts";
import { hasOption, optionValues, type ProgramCall, positional } from "../programs/program-call.ts";
import type { TextRead } from "../shell/known.ts";

/** A call with its effects, in the order of the script. */
export interface ToldCall {
  readonly found: FoundCall;
  readonly effects: readonly Effect[];
}

/**
 * The files whose texts may have changed by the time they run. A loop, or a background command, may run a
 * file that the script changes later.
 */
export function replacedTexts(
  calls: readonly ToldCall[],
  reads: readonly TextRead[],
  script: string,
): readonly string[] {
  const isOrdered = !/(?:^|[^&>])&(?:[^&>]|$)|\b(?:while|until|for)\b/u.test(script);
  const isReplaced = ({ path, at }: TextRead): boolean => {
    // The previous call is the one that reads the file.
    const isBefore = (index: number): boolean => (isOrdered ? index < at - 1 : index !== at - 1);
    return calls.some((call, index) => isBefore(index) && mayReplace(call, path));
  };
  return [...new Set(reads.filter(isReplaced).map(({ path }) => path))];
}

function mayReplace({ found, effects }: ToldCall, path: string): boolean {
  if (found.code !== undefined) return writing.test(found.code) && mayMean(found, path);
  if (found.calls.some(isUnpacking)) return true;
  return effects.some(
    ({ kind, target, expansion }) =>
      (kind === "write" || kind === "delete") && (expansion === "unknown" || isNamed(target, path)),
  );
}

/** Build scripts write files all the time, so code of a file counts only if it names the other file. */
function mayMean({ origin, code = "" }: FoundCall, path: string): boolean {
  return origin === "typed" || code.includes(path.slice(path.lastIndexOf("/") + 1));
}

function isNamed(target: string, path: string): boolean {
  const [glob, plain] = [target, path].map((one) => one.replace(/^(?:\.\/+)+|\/+$/gu, "")) as [
    string,
    string,
  ];
  return glob === "" || glob === "." || plain.startsWith(`${glob}/`) || matchesText(glob, plain);
}

/** Words in code that writes files, in languages commonly used for one-liners. */
const writing =
  /\b(?:write\w*|copy\w*|move|rename\w*|replace|link|symlink\w*|unlink\w*|remove|extract\w*|dump|save|truncate|shutil|spew|print\s*\{)|\bopen\s*\([^)]*["'][^"']*[wax+>]/u;

/** Whether it writes files that its words do not name. */
function isUnpacking({ program, args }: ProgramCall): boolean {
  switch (program) {
    case "tar":
    case "bsdtar":
      return (
        isExtracting(args.map(({ text }) => text)) && optionValues(args, "-C", "--directory").length === 0
      );
    case "unzip":
      return !hasOption(args, "-l", "-p", "-t", "-v", "-Z", "-d");
    case "7z":
    case "7za":
      return /^[xe]$/u.test(args[0]?.text ?? "");
    case "cpio":
    case "pax":
    case "patch":
      return true;
    case "git":
      return isCheckingOut(gitCall(args));
    default:
      return false;
  }
}

function isExtracting([first = "", ...rest]: readonly string[]): boolean {
  return /^-?[A-Za-z]*x/u.test(first) || rest.some((word) => /^-[A-Za-z]*x|^--(?:extract|get)$/u.test(word));
}

const checkingOut: ReadonlySet<string> = new Set(
  (
    "checkout restore reset pull merge rebase cherry-pick revert apply am checkout-index read-tree sparse-checkout bisect " +
    "submodule subtree filter-branch"
  ).split(" "),
);

function isCheckingOut({ subcommand, args }: ReturnType<typeof gitCall>): boolean {
  const [first] = positional(args);
  if (subcommand === "stash") return /^(?:pop|apply|branch)$/u.test(first?.text ?? "");
  if (subcommand === "switch") return !hasOption(args, "-c", "--create") || positional(args).length > 1;
  if (subcommand === "checkout" && hasOption(args, "-b")) return positional(args).length > 1;
  return checkingOut.has(subcommand);
}
