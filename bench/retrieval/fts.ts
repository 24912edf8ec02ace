/**
 * A baseline: SQLite's FTS5 with Porter stemming and split identifiers, ranked by its own BM25. It shows how
 * hard a repository's queries are.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { git } from "./git.ts";

const maxBytes = 1 << 20;
const part = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;

/** Identifiers, whole and in parts. */
function splitText(text: string): string {
  return text.replaceAll(/[\w$]+/g, (whole) => {
    const parts = whole.match(part) ?? [];
    return parts.length > 1 ? `${whole} ${parts.join(" ")}` : whole;
  });
}

/** *Contract:* `best` answers for the tree that was checked out at the last call of `update`. */
export interface FtsBaseline {
  update(): void;
  /** Paths, the best first. */
  best(query: string, k: number): readonly string[];
}

/** `isTaken`: selects the files of git that it indexes. */
export function openFtsBaseline(root: string, isTaken: (path: string) => boolean): FtsBaseline {
  const database = new DatabaseSync(":memory:");
  database.exec(
    "create virtual table files using fts5(path, body, file unindexed, tokenize = 'porter unicode61')",
  );
  const add = database.prepare("insert into files (path, body, file) values (?, ?, ?)");
  const remove = database.prepare("delete from files where rowid = ?");
  const ask = database.prepare("select file from files where files match ? order by rank limit ?");
  const known = new Map<string, { readonly stamp: string; readonly row: number | bigint }>();
  return {
    update() {
      const stamps = stampsOf(root, isTaken);
      for (const [path, { stamp, row }] of known) {
        if (stamps.get(path) === stamp) continue;
        remove.run(row);
        known.delete(path);
      }
      for (const [path, stamp] of stamps) {
        if (known.has(path)) continue;
        const body = splitText(readFileSync(join(root, path), "utf8"));
        const { lastInsertRowid } = add.run(splitText(path), body, path);
        known.set(path, { stamp, row: lastInsertRowid });
      }
    },
    best(query, k) {
      const words = [...new Set(splitText(query).match(/\w+/g) ?? [])];
      if (words.length === 0) return [];
      const found = ask.all(words.map((word) => `"${word}"`).join(" OR "), k);
      return found.map(({ file }) => String(file));
    },
  };
}

/** By path: a stamp that changes with the file. */
function stampsOf(root: string, isTaken: (path: string) => boolean): ReadonlyMap<string, string> {
  const paths = git(root, "ls-files", "-z").split("\0");
  const stamps = new Map<string, string>();
  for (const path of paths) {
    if (path === "" || !isTaken(path)) continue;
    const stats = statSync(join(root, path), { throwIfNoEntry: false });
    if (stats?.isFile() && stats.size <= maxBytes)
      stamps.set(path, `${stats.mtimeMs} ${stats.size} ${stats.ino}`);
  }
  return stamps;
}
