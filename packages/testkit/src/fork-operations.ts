/** Random changes of a folder as shell scripts of any bytes, to repeat the same changes in several places. */
import { quoteWord } from "@lathe/protocol";
import { fc } from "#properties";

/** One character per byte; no name leads out of the folder. */
const names = ["a", "b c", "d\ne", "f\u00ff", "\u00c3\u00a9", "dir", "-n", "'q'"] as const;
const name = fc.constantFrom(...names);
/** Links whose targets are not UTF-8 are refused. */
const target = name.filter((one) => one !== "f\u00ff");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `./${parts.join("/")}`);
const text = fc.constantFrom("", "x", "a longer text\n", "other");

const operation = fc.oneof(
  fc.tuple(path, text).map(([to, words]) => `printf %s ${quoteWord(words)} > ${quoteWord(to)}`),
  fc.tuple(path, text).map(([to, words]) => `printf %s ${quoteWord(words)} >> ${quoteWord(to)}`),
  fc.tuple(path).map(([to]) => `mkdir -p ${quoteWord(to)}`),
  fc.tuple(path).map(([to]) => `mkdir -p ${quoteWord(to)}`),
  fc.tuple(path).map(([to]) => `rm -rf ${quoteWord(to)}`),
  fc.tuple(path, path).map(([from, to]) => `mv -T ${quoteWord(from)} ${quoteWord(to)}`),
  fc.tuple(target, path).map(([from, to]) => `ln -sT -- ${quoteWord(from)} ${quoteWord(to)}`),
  fc.tuple(fc.constantFrom("644", "600", "755", "444"), path).map(([mode, to]) => chmod("f", mode, to)),
  fc.tuple(fc.constantFrom("755", "700", "750"), path).map(([mode, to]) => chmod("d", mode, to)),
  fc.tuple(path).map(([to]) => `touch ${quoteWord(to)}`),
);

/** A script for `sh`, one character per byte; skips impossible steps in the same way everywhere. */
export function changeScripts(maxLength: number): fc.Arbitrary<string> {
  return fc
    .array(operation, { maxLength })
    .map((lines) => ["umask 022", ...lines.map((line) => `(${line}) 2> /dev/null`), "true", ""].join("\n"));
}

/** Keeps folders accessible to the test, and follows no links. */
function chmod(kind: "f" | "d", mode: string, to: string): string {
  return `test ! -L ${quoteWord(to)} && test -${kind} ${quoteWord(to)} && chmod ${mode} ${quoteWord(to)}`;
}
