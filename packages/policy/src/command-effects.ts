/** The effects of a shell script, recognised by its words: a first, cautious reading; the sandbox is the boundary. */
import type { Effect } from "@lathe/protocol";
import { fileEffects } from "./file-effects.ts";
import { folderReads } from "./folder-reads.ts";
import { gitEffects } from "./git-effects.ts";
import { networkEffects } from "./network-effects.ts";
import { callsOf, type ProgramCall, positional } from "./program-call.ts";
import { escapeGlob } from "./shell-glob.ts";
import { parseScript, type Redirect, type SimpleCommand } from "./shell-words.ts";
import { settled, wordEffects, wordNames } from "./word-paths.ts";
import { enter, type Place, placed, start } from "./working-folder.ts";

const deepest = 6;
const headers: ReadonlySet<string> = new Set(["for", "select", "case", "function", "in", "cd", "[[", "]]"]);
const shells: ReadonlySet<string> = new Set(["bash", "sh", "dash", "zsh", "ksh", "ash"]);
/** Assignments that change nothing about which program runs or what it loads. */
const harmless =
  /^(NODE_ENV|CI|DEBUG|FORCE_COLOR|NO_COLOR|TZ|LANG|LC_\w+|PORT|HOST|RUST_BACKTRACE|RUST_LOG|CGO_ENABLED)=/u;
const nowhere = /^\/dev\/(null|stdout|stderr|tty|fd\/\d+)$/u;
const ownFolders = /^(\/tmp\/|\$TMPDIR\/|\$\{TMPDIR\}\/)/u;

/** Always at least `execute`, whose first names what the script may read; `folder` is where it starts. */
export function commandEffects(script: string, folder: string = ""): readonly Effect[] {
  const found = scriptEffects(script, escapeGlob(folder), 0);
  const names = [...new Set(found.filter(({ kind }) => kind === "read").map(({ target }) => target))];
  const effects = found.filter(({ kind }) => kind !== "read").map(settledPath);
  const first = effects.find(({ kind }) => kind === "execute") ?? {
    kind: "execute",
    target: script.trim(),
  };
  const all = [names.length === 0 ? first : { ...first, names }, ...effects.filter((one) => one !== first)];
  const byMeaning = new Map(
    all.toReversed().map((one) => [`${one.kind} ${one.expansion} ${one.target}`, one]),
  );
  return [...byMeaning.values()].toReversed();
}

function settledPath(effect: Effect): Effect {
  return effect.kind === "write" || effect.kind === "delete" ? settled(effect) : effect;
}

function scriptEffects(script: string, folder: string, depth: number): readonly Effect[] {
  const { commands, nested, isWhole } = parseScript(script);
  const place = start(folder);
  const effects = commands.flatMap((command) => {
    enter(place, command.depth);
    return simpleEffects(command, place, depth);
  });
  // A script that cannot be followed to its end is also judged as a whole.
  if (!isWhole) effects.unshift({ kind: "execute", target: script.trim() });
  if (depth >= deepest) return effects;
  const inner = [...nested, ...fedScripts(commands)];
  return [...effects, ...inner.flatMap((one) => scriptEffects(one, folder, depth + 1))];
}

function simpleEffects(command: SimpleCommand, place: Place, depth: number): readonly Effect[] {
  const { words, assignments, redirects } = command;
  const calls = callsOf(words);
  const files = [...calls.flatMap(fileEffects), ...redirects.flatMap(redirectEffects)];
  const named = [...words, ...assignments, ...redirects.map(({ target }) => target)].flatMap(wordNames);
  const reads = [...named.map((target): Effect => ({ kind: "read", target })), ...calls.flatMap(folderReads)];
  const effects = [
    ...executeEffects(command, calls),
    ...[...files, ...reads].filter(isTold).map((effect) => placed(effect, place)),
    ...calls.flatMap((call) => [...networkEffects(call), ...processEffects(call)]),
    ...calls.flatMap((call) =>
      call.program === "git" ? gitEffects(call).map((effect) => placed(effect, place)) : [],
    ),
    ...(depth < deepest
      ? innerScripts(command, calls).flatMap((inner) => scriptEffects(inner, place.folder ?? "", depth + 1))
      : []),
  ];
  place.folder = calls[0]?.program === "cd" ? changed(calls[0], place) : place.folder;
  return effects;
}

function changed({ args }: ProgramCall, place: Place): string | undefined {
  const [target] = args.filter(({ text }) => text !== "--");
  if (target === undefined || target.text.startsWith("-")) return undefined;
  const [next, ...others] = wordEffects("read", target).map((effect) => placed(effect, place));
  return next?.expansion === "unknown" || others.length > 0 ? undefined : next?.target;
}

/** The command as written, and as what its wrappers and assignments hide, so that no rule is missed by dressing it. */
function executeEffects(
  { words, assignments, redirects }: SimpleCommand,
  calls: readonly ProgramCall[],
): Effect[] {
  const [call] = calls;
  if (!call || headers.has(call.program)) return [];
  const written = redirects.filter(isUntold).map(({ operator, target }) => `${operator} ${target.raw}`);
  const plain = [...words.map(({ raw }) => raw), ...written].join(" ");
  const texts = calls.map(({ program, args }) =>
    [program, ...args.map(({ raw }) => raw), ...written].join(" "),
  );
  if (plain !== texts[0] && words[0]?.text.includes("/")) texts.push(plain);
  const dressing = assignments.filter(({ text }) => !harmless.test(text)).map(({ raw }) => raw);
  if (dressing.length > 0) texts.push([...dressing, plain].join(" "));
  return texts.map((target) => ({ kind: "execute", target }));
}

function redirectEffects(redirect: Redirect): readonly Effect[] {
  if (!isWriting(redirect) || isUntold(redirect)) return [];
  return wordEffects("write", redirect.target);
}

function isWriting({ operator, target }: Redirect): boolean {
  if (operator === ">&" && /^[\d-]+$/u.test(target.text)) return false;
  return operator.includes(">") && !nowhere.test(target.text);
}

/** Written to, but not as an effect of its own: its place is not known, or is the sandbox's own. */
function isUntold(redirect: Redirect): boolean {
  const { target } = redirect;
  return (
    isWriting(redirect) &&
    (!target.isLiteral || (ownFolders.test(target.text) && !target.text.includes("..")))
  );
}

/** A write to the sandbox's own temporary folder concerns nobody. */
function isTold({ kind, target }: Effect): boolean {
  if (kind === "read") return true;
  return !nowhere.test(target) && !(ownFolders.test(target) && !target.includes(".."));
}

function processEffects({ program, args }: ProgramCall): readonly Effect[] {
  const isKilling = ["kill", "pkill", "killall", "skill"].includes(program);
  return isKilling ? [{ kind: "process", target: [program, ...args.map(({ raw }) => raw)].join(" ") }] : [];
}

/** Scripts given to a shell as an argument, as its standard input, or to `eval`. */
function innerScripts({ redirects }: SimpleCommand, calls: readonly ProgramCall[]): readonly string[] {
  return calls.flatMap(({ program, args }) => {
    if (program === "eval") return [args.map(({ text }) => text).join(" ")];
    if (!shells.has(program)) return [];
    const at = args.findIndex(({ text }) => /^-\w*c$/u.test(text));
    const given = at < 0 ? undefined : args[at + 1]?.text;
    const fed = redirects.filter(({ operator }) => operator === "<<<").map(({ target }) => target.text);
    return given === undefined ? fed : [given];
  });
}

/** What a shell that reads its standard input may be fed: here-documents, and what is printed. */
function fedScripts(commands: readonly SimpleCommand[]): readonly string[] {
  const calls = commands.flatMap(({ words }) => callsOf(words));
  if (!calls.some(({ program, args }) => shells.has(program) && positional(args).length === 0)) return [];
  const printed = calls.filter(({ program }) => program === "echo" || program === "printf");
  return [
    ...commands.flatMap(({ heredocs }) => heredocs),
    ...printed.map(({ args }) => args.map(({ text }) => text).join(" ")),
  ];
}
