/** Differences between two checkpoints, in the form shown to people and models. */
import { type Failure, type FileDifference, type FileState, isFailure } from "@lathe/protocol";
import { shownPath } from "@lathe/system/paths";
import { sniffText } from "../reading/sniff-text.ts";
import { compareTrees, type TreeChange } from "./compare-trees.ts";
import { kindOf, permissions, type TreeEntry } from "./git-objects.ts";
import type { ObjectReader } from "./object-reader.ts";

export type UnifiedDiff = (before: string | undefined, after: string | undefined, path: string) => string;

/** Size of one file; a diff of a larger one is not readable. */
const maxFileBytes = 512 * 1024;
/** Length of all diffs together. */
const maxDiffLength = 1024 * 1024;

/** Ids of two trees. */
export interface TreePair {
  readonly before: string;
  readonly after: string;
}

interface Listing {
  readonly reader: ObjectReader;
  readonly unified: UnifiedDiff | undefined;
  room: number;
}

export async function listPaths(
  reader: ObjectReader,
  { before, after }: TreePair,
): Promise<readonly string[] | Failure> {
  const changes = await compareTrees(reader, before, after);
  if (isFailure(changes)) return changes;
  const told = changes.filter((one) => canTell([stateOf(one.before), stateOf(one.after)]));
  return told.map(({ path }) => shownPath(path)).sort();
}

/** Like `listDifferences`, without the cost of reading files. */
export async function listChanges(
  reader: ObjectReader,
  { before, after }: TreePair,
): Promise<readonly FileDifference[] | Failure> {
  const changes = await compareTrees(reader, before, after);
  if (isFailure(changes)) return changes;
  const told = changes.filter((one) => canTell([stateOf(one.before), stateOf(one.after)]));
  return told.map((one) => ({ ...changeOf(one), binary: false })).sort(byPath);
}

export async function listDifferences(
  reader: ObjectReader,
  trees: TreePair,
  unified: UnifiedDiff | undefined,
): Promise<readonly FileDifference[] | Failure> {
  const changes = await compareTrees(reader, trees.before, trees.after);
  if (isFailure(changes)) return changes;
  const listing: Listing = { reader, unified, room: maxDiffLength };
  const differences: FileDifference[] = [];
  for (const change of changes) {
    const difference = await differenceOf(listing, change);
    if (isFailure(difference)) return difference;
    if (difference) differences.push(difference);
  }
  return differences.sort(byPath);
}

function byPath(a: FileDifference, b: FileDifference): number {
  return a.path < b.path ? -1 : 1;
}

function changeOf(change: TreeChange): Omit<FileDifference, "binary"> {
  const before = stateOf(change.before);
  const after = stateOf(change.after);
  return {
    path: shownPath(change.path),
    kind: kindOfDifference(before, after),
    ...(before && { before }),
    ...(after && { after }),
  };
}

async function differenceOf(
  listing: Listing,
  change: TreeChange,
): Promise<FileDifference | undefined | Failure> {
  const base = changeOf(change);
  if (!canTell([base.before, base.after])) return undefined;
  if (base.kind === "mode") return { ...base, binary: false };
  const texts = await Promise.all([textOf(listing, change.before), textOf(listing, change.after)]);
  const broken = texts.find(isFailure);
  if (broken) return broken;
  const [old, now] = texts as readonly Text[];
  const binary = old === "binary" || now === "binary";
  const diff =
    binary || old === "large" || now === "large" ? undefined : diffOf(listing, base.path, [old, now]);
  return { ...base, binary, ...(diff !== undefined && { diff }) };
}

/** A folder shows only through its content; an entry that neither contains cannot be compared. */
function canTell(states: readonly (FileState | undefined)[]): boolean {
  return states.some((state) => state && state.type !== "skipped");
}

function diffOf(listing: Listing, path: string, texts: readonly (Text | undefined)[]): string | undefined {
  const [before, after] = texts.map((text) => (typeof text === "object" ? text.text : undefined));
  if (!listing.unified || listing.room <= 0) return undefined;
  const diff = listing.unified(before, after, path);
  listing.room -= diff.length;
  return listing.room < 0 ? undefined : diff;
}

type Text = { readonly text: string } | "binary" | "large" | undefined;

async function textOf({ reader }: Listing, entry: TreeEntry | undefined): Promise<Text | Failure> {
  if (!entry || !["file", "link"].includes(kindOf(entry.mode))) return undefined;
  const bytes = await reader.read("blob", entry.id);
  if (isFailure(bytes)) return bytes;
  if (sniffText(bytes) !== "utf-8") return "binary";
  return bytes.length > maxFileBytes ? "large" : { text: bytes.toString("utf8") };
}

function kindOfDifference(
  before: FileState | undefined,
  after: FileState | undefined,
): FileDifference["kind"] {
  if (!before) return "added";
  if (!after) return "deleted";
  return before.type === after.type && before.content === after.content ? "mode" : "modified";
}

function stateOf(entry: TreeEntry | undefined): FileState | undefined {
  if (!entry) return undefined;
  const type = kindOf(entry.mode);
  if (type === "folder") return undefined;
  return { type, mode: type === "file" ? permissions(entry.mode) : 0, content: entry.id };
}
