/** Folder table: rows that end with a folder and a text about it, cut to a terminal's width there; whole in a pipe. */
import { stripVTControlCharacters } from "node:util";
import type { Palette } from "../colour/palette.ts";
import { columnsTaken, ending } from "../text/columns.ts";
import { columnsOf, fit, harmless, wrap } from "../text/fit.ts";
import { table } from "./table.ts";

export interface FolderRow {
  /** As they are shown, and as many in each row. */
  readonly cells: readonly string[];
  readonly folder: string;
  readonly about: string;
}

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

interface TableView {
  /** Those of the cells, then of the folder and of what it is about. */
  readonly titles: readonly string[];
  readonly paint: Palette;
  readonly output: Output;
  /** The user's home folder; paths below it begin with `~`. */
  readonly home: string;
}

const between = 2;
/** No text is cut shorter. */
const least = 12;
/** Of what is left for both, the folders take less. */
const folderShare = 0.4;

export function folderTable(rows: readonly FolderRow[], { titles, paint, output, home }: TableView): string {
  const whole = rows.map(({ cells, folder, about }) => ({
    cells,
    folder: harmless(fromHome(folder, home)),
    about: harmless(about),
  }));
  const [folders, abouts] =
    output.isTTY === true ? roomFor(whole, titles, columnsOf(output)) : [Infinity, Infinity];
  const lines = whole.map(({ cells, folder, about }) => [
    ...cells,
    endOf(folder, folders),
    fit(about, abouts),
  ]);
  return table([titles.map(paint.dim), ...lines]);
}

/** What is said below it: broken between words on a terminal. */
export function remarkLines(text: string, output: Output): string {
  const lines = output.isTTY === true ? wrap(text, columnsOf(output)) : [text];
  return lines.map((line) => `${line}\n`).join("");
}

function roomFor(
  rows: readonly FolderRow[],
  titles: readonly string[],
  width: number,
): readonly [folders: number, abouts: number] {
  const taken = titles
    .slice(0, -2)
    .map((title, at) => Math.max(title.length, ...rows.map(({ cells }) => widthOf(cells[at] ?? ""))));
  const room = width - taken.reduce((sum, one) => sum + one + between, between);
  const longest = (of: "folder" | "about"): number =>
    Math.max(0, ...rows.map((row) => columnsTaken(row[of])));
  const share = Math.max(Math.floor(room * folderShare), room - longest("about"));
  const folders = Math.max(least, Math.min(longest("folder"), share));
  return [folders, Math.max(least, room - folders)];
}

function fromHome(folder: string, home: string): string {
  return folder === home || folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder;
}

/** Of a path the end says which it is. */
function endOf(path: string, width: number): string {
  return columnsTaken(path) <= width ? path : `…${ending(path, width - 1)}`;
}

function widthOf(cell: string): number {
  return columnsTaken(stripVTControlCharacters(cell));
}
