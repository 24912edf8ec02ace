/**
 * The benchmark of the keep rate: `node bench/keep/run.ts --clones DIR [--repository NAME]... [--commits N]
 * [--show N]` treats commits of the clones in DIR as an agent's changes, compares the fate of their lines
 * with `git blame`, and shows lines on which they differ. `--speed` measures the time for a large repository
 * instead.
 */

import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { removedBy } from "@lathe/keep-rate";
import { lastSeen, ownLines } from "./blame.ts";
import { type Commit, changedFiles, firstParents } from "./history.ts";
import { type Change, followChange, type OurLine } from "./ours.ts";
import { measureSpeed } from "./speed.ts";

const { values } = parseArgs({
  options: {
    clones: { type: "string" },
    repository: { type: "string", multiple: true },
    commits: { type: "string", default: "40" },
    show: { type: "string", default: "0" },
    speed: { type: "boolean", default: false },
  },
});
const clones = resolve(values.clones ?? ".");
const hour = 3_600_000;
const horizons = { hour, day: 24 * hour, week: 7 * 24 * hour, month: 30 * 24 * hour } as const;
type Horizon = keyof typeof horizons;
const names = Object.keys(horizons) as Horizon[];
/** Commits with more files were made by a machine. */
const maxFiles = 100;

/** Whether a line is still there, at each horizon. */
type Kept = Readonly<Record<Horizon, boolean>>;

interface Compared {
  readonly commit: Commit;
  readonly line: OurLine;
  readonly ours: Kept;
  readonly theirs: Kept;
  /** The commit that removed the line, according to blame. */
  readonly remover: Commit | undefined;
  /** Whether blame attributes the line to this commit. */
  readonly isOwn: boolean;
}

function keptAt(isThere: (horizon: number) => boolean): Kept {
  const at = (name: Horizon): boolean => isThere(horizons[name]);
  return { hour: at("hour"), day: at("day"), week: at("week"), month: at("month") };
}

/** Commits with at least a month of history after them, evenly spread. */
function sampled(root: string, all: readonly Commit[]): readonly Change[] {
  const end = (all.at(-1)?.committed ?? 0) - horizons.month;
  const due = all.filter(({ committed, parent }) => committed < end && parent !== undefined);
  const most = Math.min(due.length, Number(values.commits));
  return Array.from({ length: most }, (_, i) => due[Math.floor(((i + 0.5) * due.length) / most)])
    .flatMap((commit) => (commit ? [{ commit, files: changedFiles(root, commit) }] : []))
    .filter(({ files }) => files.length > 0 && files.length <= maxFiles);
}

/** The last commit that was written, or committed, within a month. */
function lastWithin(all: readonly Commit[], { commit }: Change): number {
  const end = commit.at + horizons.month;
  return Math.max(
    all.indexOf(commit),
    all.findLastIndex(({ at }) => at <= end),
  );
}

async function compare(root: string, all: readonly Commit[], change: Change): Promise<readonly Compared[]> {
  const { commit, files } = change;
  const [from, to] = [all.indexOf(commit), lastWithin(all, change)];
  const tip = all[to] ?? commit;
  const after = new Map(all.slice(from, to).map(({ id }, i) => [id, all[from + i + 1]]));
  const lines = await followChange(root, change, tip);
  return files.flatMap((file) => {
    const { path } = file;
    const mine = lines.filter((line) => line.path === path);
    if (mine.length === 0) return [];
    const isOwn = ownLines(root, commit, file);
    const seen = lastSeen(root, { commit, tip, path });
    return mine.map((line): Compared => {
      const remover = after.get(seen[line.number] ?? "");
      const removedAt = remover && (remover.at < commit.at ? remover.committed : remover.at);
      const ours = keptAt((horizon) => removedBy(line.tracked, line.tracked.since + horizon) === undefined);
      const theirs = keptAt((horizon) => removedAt === undefined || removedAt > commit.at + horizon);
      return { commit, line, ours, theirs, remover, isOwn: isOwn[line.number] ?? false };
    });
  });
}

function share(lines: readonly Compared[], isKept: (line: Compared) => boolean): number {
  return (100 * lines.filter(isKept).length) / Math.max(1, lines.length);
}

function printFigures(compared: readonly Compared[]): void {
  const own = compared.filter(({ isOwn }) => isOwn);
  for (const name of names) {
    const ours = share(compared, (one) => one.ours[name]);
    const theirs = share(compared, (one) => one.theirs[name]);
    const ofOwn = share(own, (one) => one.ours[name]) - share(own, (one) => one.theirs[name]);
    const cells = [ours, theirs, ours - theirs, ofOwn];
    const shown = cells.map((cell) => cell.toFixed(2).padStart(8)).join("");
    const more = compared.filter((one) => one.ours[name] && !one.theirs[name]);
    const fewer = compared.filter((one) => !one.ours[name] && one.theirs[name]);
    console.log(`  ${name.padEnd(6)}${shown}   ${ofUs(more)}, ${fewer.length} by blame alone`);
  }
}

/** Why Lathe counts the lines as kept although blame does not. */
function ofUs(lines: readonly Compared[]): string {
  const back = lines.filter(({ line }) => line.tracked.absences.some(({ to }) => to !== undefined)).length;
  const laidOut = lines.filter(({ line }) => line.tracked.laidOutAt !== undefined).length;
  return `${lines.length} kept by us alone (${laidOut} laid out otherwise, ${back} taken back in)`;
}

function printDifference({ commit, line, ours, theirs, remover }: Compared): void {
  const { path, number, text, tracked } = line;
  const day = (at: number): string => new Date(at).toISOString().slice(0, 19);
  const bits = (kept: Kept): string => names.map((name) => (kept[name] ? 1 : 0)).join("");
  const gone = tracked.absences.map(({ from, to }) => `${day(from)}..${to === undefined ? "" : day(to)}`);
  const theirsGone = remover ? `${remover.id.slice(0, 9)} ${day(remover.at)}` : "";
  console.log(`  ${commit.id.slice(0, 9)} ${day(commit.at)} ${path}:${number + 1} ${text.trim()}`);
  console.log(`    ours ${bits(ours)} ${gone.join(" ")}; blame ${bits(theirs)} ${theirsGone}`);
}

async function compareAll(root: string, name: string): Promise<void> {
  const all = firstParents(root, "HEAD");
  const changes = sampled(root, all);
  const compared: Compared[] = [];
  for (const change of changes) compared.push(...(await compare(root, all, change)));
  console.log(`${name}: ${changes.length} commits, ${compared.length} lines`);
  printFigures(compared);
  const differ = compared.filter((one) => names.some((horizon) => one.ours[horizon] !== one.theirs[horizon]));
  for (const one of differ.slice(0, Number(values.show))) printDifference(one);
}

if (values.speed) await measureSpeed();
else {
  console.log("Lines kept, %    ours   blame    less    less, of lines that blame finds nowhere before");
  for (const name of values.repository ?? readdirSync(clones)) {
    const root = join(clones, name);
    if (existsSync(join(root, ".git"))) await compareAll(root, name);
  }
}
