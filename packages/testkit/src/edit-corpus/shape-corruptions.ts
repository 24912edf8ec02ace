/** Patches with correct content in a wrong shape: markers, paths, numbers, headers and order. */
import type { Change, Hunk } from "./change.ts";
import { newLines, oldLines } from "./change.ts";
import { type Corruption, type Draft, patchFormats } from "./draft.ts";
import type { EditFormat } from "./edit-case.ts";
import { indentOf, isBlank } from "./text-lines.ts";

const v4a: readonly EditFormat[] = ["v4a"];
const udiff: readonly EditFormat[] = ["udiff"];

function onPatch(map: (patch: string, draft: Draft) => string | undefined): Corruption["spoilRequest"] {
  return (request, draft) => {
    const patch = map(request.patch ?? "", draft);
    return patch === undefined || patch === request.patch ? undefined : { ...request, patch };
  };
}

const shape = (
  name: string,
  formats: readonly EditFormat[],
  map: (patch: string, draft: Draft) => string | undefined,
): Corruption => ({ name, fold: "exact", formats, spoilRequest: onPatch(map) as never });

const beginMissing = shape("begin-marker-missing", v4a, (patch) => patch.replace("*** Begin Patch\n", ""));
const endMissing = shape("end-marker-missing", v4a, (patch) => patch.replace("\n*** End Patch", ""));
const bothMissing = shape("both-markers-missing", v4a, (patch) =>
  patch.replace("*** Begin Patch\n", "").replace("\n*** End Patch", ""),
);
const spacedMarkers = shape("markers-with-spaces", v4a, (patch) =>
  patch.replace("*** Begin Patch", " *** Begin Patch ").replace("*** End Patch", "*** End Patch  "),
);
const prefixedPath = shape("path-prefixes-in-v4a", v4a, (patch, { change, random }) =>
  patch.replace(`File: ${change.path}`, `File: ${random.pick(["a/", "b/", "./"])}${change.path}`),
);
const barePath = shape("path-prefixes-missing", udiff, (patch, { change }) =>
  patch
    .replace(`--- a/${change.path}`, `--- ${change.path}`)
    .replace(`+++ b/${change.path}`, `+++ ${change.path}`),
);
const datedPath = shape("path-with-timestamp", udiff, (patch, { change }) =>
  patch
    .replace(`--- a/${change.path}`, `--- ${change.path}\t2024-06-06 14:05:11.000000000 -0500`)
    .replace(`+++ b/${change.path}`, `+++ ${change.path}\t2024-06-07 09:15:40.000000000 -0500`),
);
const numbersInV4a = shape("udiff-numbers-in-v4a", v4a, (patch, { hunks }) => {
  let at = 0;
  return patch.replace(/^@@$/gm, () => {
    const hunk = hunks[at++] as Hunk;
    const [from, count] = [hunk.start + 1, oldLines(hunk).length];
    return `@@ -${from},${count} +${from},${newLines(hunk).length} @@`;
  });
});
const diffInV4a = shape(
  "udiff-in-markers",
  udiff,
  (patch) => `*** Begin Patch\n${patch.trimEnd()}\n*** End Patch`,
);
const headersOnly = shape("file-lines-missing", udiff, (patch) => patch.replace(/^--- .*\n\+\+\+ .*\n/m, ""));
const crlfPatch = shape("patch-with-crlf", patchFormats, (patch) => patch.replaceAll("\n", "\r\n"));
const numbersMissing = shape("hunk-numbers-missing", udiff, (patch, { random }) =>
  patch.replace(/^@@ .* @@$/gm, random.pick(["@@", "@@ @@", "@@ ... @@"])),
);

const doubledHeader = shape("hunk-marker-doubled", v4a, (patch) => patch.replace(/^@@$/m, "@@\n@@"));

const wrongNumbers: Corruption = {
  name: "hunk-numbers-wrong",
  fold: "exact",
  formats: udiff,
  dress: ({ random }) => ({
    numbers: (hunk, delta) => {
      const off = (1 + random.below(40)) * random.pick([1, -1]);
      const start = Math.max(1, hunk.start + 1 + off);
      return ` -${start},${oldLines(hunk).length} +${start + delta},${newLines(hunk).length} @@`;
    },
  }),
};

const wrongCounts: Corruption = {
  name: "hunk-counts-wrong",
  fold: "exact",
  formats: udiff,
  dress: ({ random }) => ({
    numbers: (hunk, delta) => {
      const wrong = (count: number): number => Math.max(1, count + random.pick([-2, -1, 1, 2, 3]));
      const [oldCount, newCount] = [wrong(oldLines(hunk).length), wrong(newLines(hunk).length)];
      return ` -${hunk.start + 1},${oldCount} +${hunk.start + 1 + delta},${newCount} @@`;
    },
  }),
};

const countsMissing: Corruption = {
  name: "hunk-counts-missing",
  fold: "exact",
  formats: udiff,
  dress: () => ({ numbers: (hunk, delta) => ` -${hunk.start + 1} +${hunk.start + 1 + delta} @@` }),
};

/** The hunks are in another order than in the file. */
const outOfOrder: Corruption = {
  name: "hunks-out-of-order",
  fold: "exact",
  spoilHunks: ({ hunks }) => (hunks.length > 1 ? hunks.toReversed() : undefined),
};

/** The line that opens a hunk's block: the nearest line above with less indentation. */
export function openingLine(change: Change, hunk: Hunk): number | undefined {
  const filled = oldLines(hunk).filter((line) => !isBlank(line));
  const depth = Math.min(...filled.map((line) => indentOf(line).length));
  for (let index = hunk.start - 1; index >= 0; index--) {
    const line = change.before[index] as string;
    if (!isBlank(line) && indentOf(line).length < depth && /[A-Za-z]/.test(line)) return index;
  }
  return undefined;
}

function headed(draft: Draft, header: (hunk: Hunk) => string | undefined): Hunk[] | undefined {
  const hunks = draft.hunks.map((hunk) => {
    const text = header(hunk);
    return text === undefined ? hunk : { ...hunk, header: text };
  });
  return hunks.some((hunk) => hunk.header !== undefined) ? hunks : undefined;
}

const headerText = ({ change }: Draft, hunk: Hunk): string | undefined => {
  const index = openingLine(change, hunk);
  return index === undefined ? undefined : change.before[index]?.trim();
};

const cleanHeader: Corruption = {
  name: "clean-header",
  fold: "exact",
  formats: patchFormats,
  spoilHunks: (draft) => headed(draft, (hunk) => headerText(draft, hunk)),
};

const closedHeader: Corruption = {
  name: "header-closed-by-signs",
  fold: "exact",
  formats: v4a,
  spoilHunks: (draft) =>
    headed(draft, (hunk) => {
      const text = headerText(draft, hunk);
      return text === undefined ? undefined : `${text} @@`;
    }),
};

/** A header that names another place, or none; the context is still unique. */
const wrongHeader: Corruption = {
  name: "header-wrong-context-unique",
  fold: "lax",
  formats: v4a,
  spoilHunks: (draft) => {
    const { change, random } = draft;
    const lines = change.before.filter((line) =>
      /\b(def|class|func|fn|function|interface|struct)\b/.test(line),
    );
    const invented = ["class Unknown:", "def not_there(self):", "function missing() {", "line 10"];
    return headed(draft, () => random.pick(lines.length > 0 && random.chance(0.5) ? lines : invented).trim());
  },
};

export const shapeCorruptions: readonly Corruption[] = [
  beginMissing,
  endMissing,
  bothMissing,
  spacedMarkers,
  prefixedPath,
  barePath,
  datedPath,
  numbersInV4a,
  diffInV4a,
  headersOnly,
  crlfPatch,
  numbersMissing,
  doubledHeader,
  wrongNumbers,
  wrongCounts,
  countsMissing,
  outOfOrder,
  cleanHeader,
  closedHeader,
  wrongHeader,
];
