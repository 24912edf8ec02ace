/** Correct edits without any fault, in every way the formats allow. */
import { type Change, oldEnd } from "./change.ts";
import {
  type CaseMaker,
  type Corruption,
  type DraftedCase,
  draftHunks,
  patchFormats,
  recoverable,
  stringFormats,
} from "./draft.ts";
import { type EditFormat, editFormats } from "./edit-case.ts";
import { occurrences } from "./oracle.ts";
import { opLines, reachesEnd } from "./render.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { writeLines } from "./text-lines.ts";

const clean: readonly Corruption[] = [
  { name: "clean", fold: "exact" },
  { name: "clean-wide", fold: "exact", formats: stringFormats, context: [4, 10] },
  {
    name: "clean-several",
    fold: "exact",
    spoilRequest: (request, { hunks }) => (hunks.length > 1 ? request : undefined),
  },
  { name: "clean-git-lines", fold: "exact", formats: ["udiff"], dress: () => ({ gitLines: true }) },
  {
    name: "clean-closed-lines",
    fold: "exact",
    formats: stringFormats,
    dress: () => ({ closed: true }),
    spoilRequest: (request, { hunks, change }) =>
      hunks.every((hunk) => oldEnd(hunk) < change.before.length) ? request : undefined,
  },
  {
    name: "clean-end-of-file",
    fold: "exact",
    formats: ["v4a"],
    dress: () => ({ endOfFile: true }),
    spoilRequest: (request, { change, hunks }) =>
      hunks.some((hunk) => reachesEnd(change, hunk)) ? request : undefined,
  },
];

/** Replaces part of one line by part of one line. */
const inline: CaseMaker = {
  name: "clean-inside-line",
  formats: stringFormats,
  make: (change, format) => {
    const core = change.cores.find(
      ({ ops }) => ops.length === 2 && ops[0]?.kind === "-" && ops[1]?.kind === "+",
    );
    const [old, now] = [core?.ops[0]?.text ?? "", core?.ops[1]?.text ?? ""];
    let [from, end] = [0, 0];
    while (from < old.length && old[from] === now[from]) from++;
    while (end < old.length - from && end < now.length - from && old.at(-1 - end) === now.at(-1 - end)) end++;
    const content = writeLines(change.before, change.style);
    for (let more = 4; more < old.length; more += 4) {
      const start = wordStart(old, Math.max(0, from - more));
      const stop = old.length - wordEnd(old, old.length - Math.max(0, end - more));
      const edit = {
        old_string: old.slice(start, old.length - stop),
        new_string: now.slice(start, now.length - stop),
      };
      if (edit.old_string.trim().length < 8 || occurrences(content, edit.old_string) !== 1) continue;
      const expect = { content: content.replace(edit.old_string, () => edit.new_string) };
      return { request: { id: "", path: change.path, content, format, edits: [edit] }, expect };
    }
    return undefined;
  },
};

/** An edit to part of a line should begin and end at word borders, unless it changes the word. */
function wordStart(line: string, at: number): number {
  let start = at;
  while (start > 0 && /\w/.test(line[start] ?? "") && /\w/.test(line[start - 1] ?? "")) start--;
  return start;
}

function wordEnd(line: string, at: number): number {
  let end = at;
  while (end < line.length && /\w/.test(line[end] ?? "") && /\w/.test(line[end - 1] ?? "")) end++;
  return end;
}

const keywords =
  /^(return|import|export|public|private|protected|static|function|extends|implements|interface|default|struct|string|boolean|number|package|continue|finally|switch|throws?|lambda|yield|while|async|await|assert|double|unsafe|typeof|instanceof|readonly|super|final|const|class|match|where|catch|raise|except|global|range|defer|chan|func|this|self|null|None|True|False|true|false|void|else|elif|with|from|pass|case|enum|impl|trait|for|def|let|mut|pub|use|mod|int|var|new|try|and|not|del|map)$/;

/** Replaces every occurrence of a name, or of a run of lines, at once. */
const replaceAll: CaseMaker = {
  name: "clean-replace-all",
  formats: stringFormats,
  make: (change, format, random) => {
    const content = writeLines(change.before, change.style);
    const found = content.match(/\b[A-Za-z_]\w{5,}\b/g) ?? [];
    const words = new Set(found.filter((word) => !keywords.test(word)));
    const lines = change.before
      .slice(0, -1)
      .map((line, index) => `${line}${change.style.eol}${change.before[index + 1]}`);
    const long = lines.filter((pair) => pair.replace(/\s/g, "").length > 16);
    const [word, pair] = [random.shuffled([...words]), random.shuffled(long)].map((found) =>
      found.find((text) => content.split(text).length - 1 >= 2 && content.split(text).length < 30),
    );
    const old = random.chance(0.6) ? word : pair;
    if (old === undefined) return undefined;
    const name = old.match(/[A-Za-z_]\w{2,}/g)?.find((one) => !keywords.test(one)) ?? "x";
    const now = old.replace(name, () => `${name}Renamed`);
    const edits = [
      {
        old_string: old.replaceAll("\r\n", "\n"),
        new_string: now.replaceAll("\r\n", "\n"),
        replace_all: true,
      },
    ];
    const expect = { content: content.split(old).join(now) };
    return { request: { id: "", path: change.path, content, format, edits }, expect };
  },
};

/** A file that does not exist yet: its content is empty. */
const addedFile: CaseMaker = {
  name: "clean-new-file",
  formats: editFormats,
  make: (change, format) => {
    const lines = change.after;
    if (lines.length > 150) return undefined;
    const text = lines.map((line) => `${line}\n`).join("");
    const base = { id: "", path: change.path, content: "", format };
    const added = lines.map((line) => `+${line}`);
    const expect = { content: text };
    if (format === "search_replace")
      return { request: { ...base, edits: [{ old_string: "", new_string: text }] }, expect };
    const patch =
      format === "v4a"
        ? ["*** Begin Patch", `*** Add File: ${change.path}`, ...added, "*** End Patch"]
        : ["--- /dev/null", `+++ b/${change.path}`, `@@ -0,0 +1,${lines.length} @@`, ...added, ""];
    return { request: { ...base, patch: patch.join("\n") }, expect };
  },
};

/** One line of context, each place still being unique. */
const narrow: CaseMaker = {
  name: "clean-narrow-patch",
  formats: patchFormats,
  make: (change: Change, format: EditFormat, random: SeededRandom): DraftedCase | undefined => {
    const strings = draftHunks(change, "search_replace", { random, context: [1, 1] });
    if (strings === undefined || !change.style.final) return undefined;
    const sections = strings.map((hunk) => ["@@", ...opLines(hunk)]);
    const body =
      format === "v4a"
        ? ["*** Begin Patch", `*** Update File: ${change.path}`, ...sections.flat(), "*** End Patch"]
        : [`--- a/${change.path}`, `+++ b/${change.path}`, ...sections.flat(), ""];
    const content = writeLines(change.before, change.style);
    const request = { id: "", path: change.path, content, format, patch: body.join("\n") };
    return { request, expect: { content: writeLines(change.after, change.style) } };
  },
};

export const cleanMakers: readonly CaseMaker[] = [
  ...clean.map(recoverable),
  inline,
  replaceAll,
  addedFile,
  narrow,
];
