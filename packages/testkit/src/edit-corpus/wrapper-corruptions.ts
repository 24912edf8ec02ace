/** Correct edits in a wrong wrapping: fences, copied line numbers, entities, escapes, elisions, shells. */
import { type Hunk, newLines, oldLines } from "./change.ts";
import { type Corruption, type Draft, mapOps, patchFormats, stringFormats } from "./draft.ts";
import type { EditRequest, StringEdit } from "./edit-case.ts";
import { commentLine } from "./language.ts";
import { occurrences, placesOf, textOf } from "./oracle.ts";
import { isBlank } from "./text-lines.ts";

function mapEdits(
  request: EditRequest,
  map: (edit: StringEdit, index: number) => StringEdit,
): EditRequest | undefined {
  return request.edits === undefined ? undefined : { ...request, edits: request.edits.map(map) };
}

function onBoth(map: (text: string) => string): (edit: StringEdit) => StringEdit {
  return (edit) => ({ ...edit, old_string: map(edit.old_string), new_string: map(edit.new_string) });
}

function hasPart(request: EditRequest, edits: readonly StringEdit[] | undefined): boolean {
  return (edits ?? []).some((edit) => occurrences(request.content, edit.old_string) > 0);
}

const fence: Corruption = {
  name: "code-fence",
  fold: "exact",
  formats: stringFormats,
  spoilRequest: (request, { change, random }) => {
    if (/^\s*(```|~~~)/m.test(request.edits?.map(({ old_string }) => old_string).join("\n") ?? ""))
      return undefined;
    const open = random.pick(["```", `\`\`\`${change.language}`, "```\n"]).trimEnd();
    const end = random.pick(["\n```", "\n```\n"]);
    return mapEdits(
      request,
      onBoth((text) => `${open}\n${text}${end}`),
    );
  },
};

const patchFence: Corruption = {
  name: "patch-in-fence",
  fold: "exact",
  formats: patchFormats,
  spoilRequest: (request, { format, random }) => {
    const open = random.pick(["```", "```diff", format === "v4a" ? "```patch" : "```udiff"]);
    return { ...request, patch: `${open}\n${request.patch?.trimEnd()}\n\`\`\`${random.pick(["", "\n"])}` };
  },
};

const prose: Corruption = {
  name: "patch-after-prose",
  fold: "exact",
  formats: patchFormats,
  spoilRequest: (request, { random }) => {
    const lead = random.pick(["Here is the patch:\n\n", "\n\n", "I will apply this change.\n"]);
    return { ...request, patch: lead + request.patch };
  },
};

const numberings: readonly ((number: number) => string)[] = [
  (number) => `${number}\t`,
  (number) => `${number}: `,
  (number) => `${number} | `,
  (number) => `${String(number).padStart(6)}\t`,
  (number) => `${String(number).padStart(5)}\u2192`,
  (number) => `${String(number).padStart(4)}| `,
  (number) => `${number}|`,
];

function numbered(lines: readonly string[], start: number, prefix: (number: number) => string): string {
  return lines.map((line, index) => prefix(start + index) + line).join("\n");
}

const numbers: Corruption = {
  name: "line-numbers",
  fold: "exact",
  formats: stringFormats,
  spoilRequest: (request, { hunks, random }) => {
    const prefix = random.pick(numberings);
    return mapEdits(request, (_, index) => {
      const hunk = hunks[index] as (typeof hunks)[number];
      return {
        old_string: numbered(oldLines(hunk), hunk.start + 1, prefix),
        new_string: numbered(newLines(hunk), hunk.start + 1, prefix),
      };
    });
  },
};

const numbersInOld: Corruption = {
  name: "line-numbers-in-old-only",
  fold: "exact",
  formats: stringFormats,
  spoilRequest: (request, { hunks, random }) => {
    const prefix = random.pick(numberings);
    return mapEdits(request, (edit, index) => {
      const hunk = hunks[index] as (typeof hunks)[number];
      return { ...edit, old_string: numbered(oldLines(hunk), hunk.start + 1, prefix) };
    });
  },
};

/** Kept lines carry the line numbers they were read with; added ones have none. */
const numbersOfKept: Corruption = {
  name: "line-numbers-on-kept-lines",
  fold: "exact",
  formats: stringFormats,
  spoilHunks: ({ hunks, random }) => withNumbers(hunks, random.pick(numberings)),
};

/** In a patch the kept and removed lines carry numbers; the added ones have none. */
const patchNumbers: Corruption = {
  name: "line-numbers-in-patch",
  fold: "exact",
  formats: patchFormats,
  spoilHunks: ({ hunks, random }) => withNumbers(hunks, random.pick(numberings)),
};

function withNumbers(hunks: readonly Hunk[], prefix: (number: number) => string): Hunk[] {
  return hunks.map((hunk) => {
    let at = hunk.start;
    const ops = hunk.ops.map((op) => (op.kind === "+" ? op : { ...op, text: prefix(++at) + op.text }));
    return { ...hunk, ops };
  });
}

function entities(text: string, withQuotes: boolean): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return withQuotes ? escaped.replaceAll('"', "&quot;").replaceAll("'", "&#39;") : escaped;
}

const htmlEntities: Corruption = {
  name: "html-entities",
  fold: "exact",
  spoilHunks: ({ hunks, change, random }) => {
    if (/&(lt|gt|amp|quot|apos|#\d+);/.test(textOf([...change.before, ...change.after]))) return undefined;
    const withQuotes = random.chance(0.3);
    const spoiled = mapOps(hunks, ({ text }) => entities(text, withQuotes));
    const shown = spoiled.every((hunk, index) => {
      const [now, was] = [oldLines(hunk), oldLines(hunks[index] ?? hunk)];
      return textOf(now) !== textOf(was);
    });
    return shown ? spoiled : undefined;
  },
};

/** The whole text as the inside of a JSON string: line breaks, quotes and tabs are escaped. */
const jsonText: Corruption = {
  name: "json-escaped",
  fold: "exact",
  formats: stringFormats,
  context: [1, 3],
  spoilRequest: (request, { hunks }) => {
    if (hunks.some((hunk) => oldLines(hunk).length < 2)) return undefined;
    const spoiled = mapEdits(
      request,
      onBoth((text) => JSON.stringify(text).slice(1, -1)),
    );
    return hasPart(request, spoiled?.edits) ? undefined : spoiled;
  },
};

/** Only quotes are escaped; the line breaks are real. */
const jsonQuotes: Corruption = {
  name: "json-escaped-quotes",
  fold: "exact",
  context: [1, 3],
  spoilHunks: ({ hunks, change }) => {
    if (textOf([...change.before, ...change.after]).includes("\\")) return undefined;
    const shown = hunks.every((hunk) => oldLines(hunk).some((line) => line.includes('"')));
    return shown ? mapOps(hunks, ({ text }) => text.replaceAll('"', '\\"')) : undefined;
  },
};

/** Doubles each backslash, as in a string inside a string. */
const jsonBackslashes: Corruption = {
  name: "doubled-backslashes",
  fold: "exact",
  context: [1, 3],
  spoilHunks: ({ hunks }) => {
    const shown = hunks.every((hunk) => oldLines(hunk).some((line) => line.includes("\\")));
    return shown ? mapOps(hunks, ({ text }) => text.replaceAll("\\", "\\\\")) : undefined;
  },
};

/** Tabs at line starts are written as backslash and t. */
const literalTabs: Corruption = {
  name: "literal-tabs",
  fold: "exact",
  context: [1, 3],
  spoilHunks: ({ hunks, change }) => {
    if (textOf([...change.before, ...change.after]).includes("\\")) return undefined;
    const shown = hunks.every((hunk) => oldLines(hunk).some((line) => line.startsWith("\t")));
    const escaped = (text: string): string => text.replace(/^\t+/, (tabs) => "\\t".repeat(tabs.length));
    return shown ? mapOps(hunks, ({ text }) => escaped(text)) : undefined;
  },
};

/** `old` and `new` both omit a long kept part; each remaining piece has one place. */
export function elided(draft: Draft, mark: string): { old: string; new: string } | undefined {
  const [hunk] = draft.hunks;
  if (draft.hunks.length !== 1 || hunk === undefined) return undefined;
  const { ops } = hunk;
  const end = ops.findIndex(({ kind }) => kind !== " ");
  if (end < 5) return undefined;
  const head = ops.slice(0, 2).map(({ text }) => text);
  const tail = ops.slice(end - 1);
  const side = (skipped: string): string[] =>
    tail.filter(({ kind }) => kind !== skipped).map(({ text }) => text);
  const pieces = [head, side("+")];
  const certain = pieces.every(
    (piece) => placesOf(draft.change.before, piece, "lax") === 1 && piece.some((line) => !isBlank(line)),
  );
  if (!certain) return undefined;
  const whole = (lines: readonly string[]): string => textOf([...head, mark, ...lines]);
  return { old: whole(side("+")), new: whole(side("-")) };
}

export function elisionMark({ change, random }: Draft): string {
  const comment = commentLine(change.language, "...") ?? "...";
  const indent = random.pick(["", "    "]);
  return indent + random.pick(["...", comment]);
}

const elision: Corruption = {
  name: "paired-elision",
  fold: "exact",
  formats: stringFormats,
  context: [7, 12],
  spoilRequest: (request, draft) => {
    const mark = elisionMark(draft);
    if (draft.change.before.some((line) => line.trim() === mark.trim())) return undefined;
    const texts = elided(draft, mark);
    return texts && { ...request, edits: [{ old_string: texts.old, new_string: texts.new }] };
  },
};

const heredoc: Corruption = {
  name: "heredoc",
  fold: "exact",
  formats: ["v4a"],
  spoilRequest: (request, { random }) => {
    const [open, close] = random.pick([
      ["apply_patch <<'EOF'\n", "\nEOF"],
      ['apply_patch <<"PATCH"\n', "\nPATCH\n"],
      ["apply_patch << EOF\n", "\nEOF\n"],
      ["<<'EOF'\n", "\nEOF"],
    ]) as [string, string];
    return { ...request, patch: open + request.patch + close };
  },
};

export const wrapperCorruptions: readonly Corruption[] = [
  fence,
  patchFence,
  prose,
  numbers,
  numbersInOld,
  numbersOfKept,
  patchNumbers,
  htmlEntities,
  jsonText,
  jsonQuotes,
  jsonBackslashes,
  literalTabs,
  elision,
  heredoc,
];
