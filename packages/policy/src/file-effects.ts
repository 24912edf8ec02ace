/** Which files a program call deletes or writes. Paths are globs here, what a shell would not expand escaped. */
import type { Effect, EffectKind } from "@lathe/protocol";
import { hasOption, type ProgramCall, positional } from "./program-call.ts";
import { wordEffects } from "./word-paths.ts";

type FileEffects = (call: ProgramCall) => readonly Effect[];

/** Stands for names that come from standard input. */
const fromInput = { target: "$(names from standard input)", expansion: "unknown" } as const;

const each =
  (kind: EffectKind): FileEffects =>
  ({ args, hasMoreArgs }) => {
    const effects = positional(args).flatMap((word) => wordEffects(kind, word));
    return hasMoreArgs ? [...effects, { kind, ...fromInput }] : effects;
  };

const afterFirst =
  (kind: EffectKind): FileEffects =>
  ({ args }) =>
    positional(args)
      .slice(1)
      .flatMap((word) => wordEffects(kind, word));

const last =
  (kind: EffectKind): FileEffects =>
  ({ args }) => {
    const word = positional(args).at(-1);
    return word === undefined ? [] : wordEffects(kind, word);
  };

const byProgram: Readonly<Record<string, FileEffects>> = {
  rm: each("delete"),
  rmdir: each("delete"),
  unlink: each("delete"),
  shred: each("delete"),
  srm: each("delete"),
  trash: each("delete"),
  tee: each("write"),
  truncate: each("write"),
  touch: each("write"),
  mkdir: each("write"),
  cp: last("write"),
  install: last("write"),
  ln: last("write"),
  mv: moveEffects,
  chmod: afterFirst("write"),
  chown: afterFirst("write"),
  chgrp: afterFirst("write"),
  sed: (call) => (hasOption(call.args, "-i", "--in-place") ? afterFirst("write")(call) : []),
  perl: (call) => (call.args.some(({ text }) => /^-\w*i/u.test(text)) ? last("write")(call) : []),
  find: findEffects,
  dd: ({ args }) =>
    args.flatMap((word) =>
      word.text.startsWith("of=") ? wordEffects("write", { ...word, glob: word.glob.slice(3) }) : [],
    ),
};

export function fileEffects(call: ProgramCall): readonly Effect[] {
  const known = Object.hasOwn(byProgram, call.program) ? byProgram[call.program]?.(call) : undefined;
  return known ?? [];
}

function moveEffects({ args }: ProgramCall): readonly Effect[] {
  const words = [...positional(args)];
  const last = words.pop();
  const sources = words.flatMap((word) => wordEffects("delete", word));
  return last === undefined ? sources : [...sources, ...wordEffects("write", last)];
}

/** `-delete` and `-exec rm` delete below each starting folder, or only what a literal `-name` says. */
function findEffects({ args }: ProgramCall): readonly Effect[] {
  const texts = args.map(({ text }) => text);
  const isDeleting = texts.some(
    (text, at) =>
      text === "-delete" || (/^-(exec|execdir|ok)$/u.test(text) && /(^|\/)rm$/u.test(texts[at + 1] ?? "")),
  );
  if (!isDeleting) return [];
  const end = texts.findIndex((text) => /^[-(!]/u.test(text));
  const folders = args.slice(0, end < 0 ? undefined : end).flatMap((folder) => wordEffects("delete", folder));
  const at = texts.findIndex((text) => text === "-name" || text === "-iname");
  const name = at < 0 ? "*" : (texts[at + 1] ?? "*");
  const below = folders.length > 0 ? folders : [{ kind: "delete", target: "." } as const];
  if (/^[*?]*$/u.test(name)) return below;
  return below.map((folder) => ({ ...folder, target: `${folder.target.replace(/\/$/u, "")}/${name}` }));
}
