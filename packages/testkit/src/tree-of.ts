/** The content of a folder, for comparison. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Files with their text; folders with a slash and no text; links with an arrow and their target. */
export type FileTree = Readonly<Record<string, string>>;

export function treeOf(root: string): FileTree {
  const found: Record<string, string> = {};
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        found[`${path}/`] = "";
        walk(path);
      } else
        found[path] = entry.isSymbolicLink() ? `-> ${readlinkSync(join(root, path))}` : textOf(root, path);
    }
  };
  walk("");
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function textOf(root: string, path: string): string {
  return readFileSync(join(root, path), "utf8");
}
