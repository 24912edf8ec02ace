/** Programs that read everything below the folders they get. */
import type { Effect } from "@lathe/protocol";
import { hasOption, type ProgramCall, positional } from "../programs/program-call.ts";
import { tidy } from "../shell/tidy-path.ts";
import { wordEffects } from "../shell/word-paths.ts";

/** Options with which a program reads whole folders; an empty list means that it always does. */
const readers: Readonly<Record<string, readonly string[]>> = {
  rg: [],
  ag: [],
  ack: [],
  rsync: [],
  tar: [],
  grep: ["-r", "-R", "--recursive", "--dereference-recursive"],
  egrep: ["-r", "-R", "--recursive", "--dereference-recursive"],
  cp: ["-r", "-R", "-a", "--recursive", "--archive"],
  zip: ["-r", "--recurse-paths"],
  diff: ["-r", "--recursive"],
};

/** Sensitive paths below some folders, so that rules about them match. */
const hiddenBelow: readonly (readonly [place: RegExp, name: string])[] = [
  [/^(?:~|\$HOME|\$\{HOME\}|\/root|\/home(?:\/[^/]+)?|\/Users(?:\/[^/]+)?|\/)$/u, ".ssh/id_rsa"],
  [/^(?:~|\$HOME|\$\{HOME\}|\/root|\/home\/[^/]+)\/\.config$/u, "gh/hosts.yml"],
  [/^\/etc$/u, "shadow"],
  [/^\/proc(?:\/[\d*]+)?$/u, "1/environ"],
];

/**
 * Reads of everything below the named paths; a search program with only a pattern reads the current folder.
 */
export function folderReads({ program, args }: ProgramCall, folder: string | undefined): readonly Effect[] {
  const options = Object.hasOwn(readers, program) ? readers[program] : undefined;
  if (!options || (options.length > 0 && !hasOption(args, ...options))) return [];
  const words = positional(args).filter(({ text }) => text !== "");
  const below = words.flatMap((word) => wordEffects("read", word));
  const here: readonly Effect[] = words.length < 2 ? [{ kind: "read", target: "." }] : [];
  const named = [...words.map(({ text }) => text), ...(folder && here.length > 0 ? ["."] : [])];
  const kept = named.flatMap((text) => {
    const whole = place(text, folder);
    return hiddenBelow.flatMap(([where, name]) => (where.test(whole) ? [tidy(`${whole}/${name}`)] : []));
  });
  return [
    ...[...below, ...here].map((effect) => ({ ...effect, target: `${effect.target}/**` })),
    ...kept.map((target): Effect => ({ kind: "read", target })),
  ];
}

/**
 * The place of a word; relative if it is in the workspace. After an unknown `cd` it may be the home folder.
 */
function place(text: string, folder: string | undefined): string {
  if (/^[/~$]/u.test(text)) return tidy(text);
  return tidy(folder === "" ? text : `${folder ?? "~"}/${text}`);
}
