/** Which files a program call deletes or writes, and which secret files it names. */
import type { Effect, EffectKind } from "@lathe/protocol";
import { defaultRules } from "./default-rules.ts";
import { matchesPath } from "./glob.ts";
import { hasOption, type ProgramCall, positional } from "./program-call.ts";
import type { Word } from "./shell-lexer.ts";

type FileEffects = (call: ProgramCall) => readonly Effect[];

/** Stands for names that come from standard input. */
const fromInput = "$(names from standard input)";

const each =
  (kind: EffectKind): FileEffects =>
  ({ args, hasMoreArgs }) => {
    const targets = positional(args).map(({ text }) => text);
    return [...targets, ...(hasMoreArgs ? [fromInput] : [])].map((target) => ({ kind, target }));
  };

const afterFirst =
  (kind: EffectKind): FileEffects =>
  ({ args }) =>
    positional(args)
      .slice(1)
      .map(({ text }) => ({ kind, target: text }));

const last =
  (kind: EffectKind): FileEffects =>
  ({ args }) => {
    const target = positional(args).at(-1)?.text;
    return target === undefined ? [] : [{ kind, target }];
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
    args.flatMap(({ text }) =>
      text.startsWith("of=") ? [{ kind: "write" as const, target: text.slice(3) }] : [],
    ),
};

export function fileEffects(call: ProgramCall): readonly Effect[] {
  const known = Object.hasOwn(byProgram, call.program) ? byProgram[call.program]?.(call) : undefined;
  return known ?? [];
}

const secrets = defaultRules.filter(({ name }) => name.startsWith("secret-"));

/** A read for each word that names a secret file, whatever the program does with it. */
export function secretReads(words: readonly Word[]): readonly Effect[] {
  return words.flatMap(({ text }) => {
    // `@.env`, `--env-file=.env` and `<host>:.env` name the file too.
    const names = [text, ...text.split(/[@=:,]/u)].flatMap((name) => globbed(name));
    const found = names.find((name) => secrets.some(({ target }) => matchesPath(target ?? "", name)));
    return found === undefined ? [] : [{ kind: "read" as const, target: found }];
  });
}

/** `.env*` and `id_?sa` stand for the secret files they would match. */
function globbed(name: string): readonly string[] {
  if (!/[*?]/u.test(name)) return [name];
  const folder = name.slice(0, name.lastIndexOf("/") + 1);
  const base = name.slice(folder.length);
  if (/^[*?]+$/u.test(base)) return [name];
  return [
    name,
    ...[".env", "id_rsa", "id_ed25519"]
      .filter((file) => matchesPath(base, file))
      .map((file) => folder + file),
  ];
}

function moveEffects({ args }: ProgramCall): readonly Effect[] {
  const names = positional(args).map(({ text }) => text);
  const target = names.pop();
  const sources = names.map((name): Effect => ({ kind: "delete", target: name }));
  return target === undefined ? sources : [...sources, { kind: "write", target }];
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
  const folders = texts.slice(0, end < 0 ? undefined : end);
  const name = texts[texts.findIndex((text) => text === "-name" || text === "-iname") + 1];
  const isNamed = texts.some((text) => text === "-name" || text === "-iname") && !/^[*?]*$/u.test(name ?? "");
  return (folders.length > 0 ? folders : ["."]).map((folder) => ({
    kind: "delete",
    target: isNamed ? `${folder.replace(/\/$/u, "")}/${name}` : folder,
  }));
}
