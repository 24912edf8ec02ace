/** Documents: the files that a language server has open, each with a version that is never reused. */

import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Connection } from "./connection.ts";

const ids: Readonly<Record<string, string>> = {
  ".ts": "typescript",
  ".mts": "typescript",
  ".cts": "typescript",
  ".tsx": "typescriptreact",
  ".js": "javascript",
  ".mjs": "javascript",
  ".cjs": "javascript",
  ".jsx": "javascriptreact",
  ".py": "python",
  ".pyi": "python",
  ".rs": "rust",
  ".rb": "ruby",
  ".cs": "csharp",
  ".sh": "shellscript",
  ".md": "markdown",
  ".yml": "yaml",
  ".h": "c",
  ".cc": "cpp",
  ".hpp": "cpp",
  ".kt": "kotlin",
  ".ex": "elixir",
  ".hs": "haskell",
};

/** Further ones stay open only until the next look. */
const maxOpen = 64;

export interface OpenDocument {
  readonly uri: string;
  readonly version: number;
  readonly text: string;
  /** The server has received no other text of it. */
  readonly isFirst: boolean;
}

export interface Documents {
  /** Paths from the workspace; least recently touched first. */
  readonly paths: readonly string[];
  known(path: string): OpenDocument | undefined;
  /**
   * *Contract:* the server gets this text under a new version; `anew` gives it a new one even if it is the
   * same.
   */
  put(path: string, text: string, anew: boolean): OpenDocument;
  drop(path: string): void;
  /** *Contract:* closes the least recently touched ones. */
  trim(): void;
}

export function createDocuments(root: string, { tell }: Pick<Connection, "tell">): Documents {
  const open = new Map<string, OpenDocument>();
  const closed = new Set<string>();
  let version = 0;
  const drop = (path: string): void => {
    const one = open.get(path);
    if (!one) return;
    open.delete(path);
    closed.add(path);
    tell("textDocument/didClose", { textDocument: { uri: one.uri } });
  };
  return {
    get paths() {
      return [...open.keys()];
    },
    known: (path) => open.get(path),
    put: (path, text, anew) => {
      const before = open.get(path);
      if (before && before.text === text && !anew) return before;
      const uri = before?.uri ?? pathToFileURL(join(root, path)).href;
      const one = { uri, version: ++version, text, isFirst: !before && !closed.has(path) };
      open.delete(path);
      open.set(path, one);
      const textDocument = { uri, version: one.version };
      if (before) tell("textDocument/didChange", { textDocument, contentChanges: [{ text }] });
      else
        tell("textDocument/didOpen", {
          textDocument: { ...textDocument, languageId: languageId(path), text },
        });
      return one;
    },
    drop,
    trim: () => {
      for (const path of [...open.keys()].slice(0, Math.max(0, open.size - maxOpen))) drop(path);
    },
  };
}

/** Most are named like their extension. */
function languageId(path: string): string {
  const extension = extname(path).toLowerCase();
  return ids[extension] ?? (extension.slice(1) || "plaintext");
}
