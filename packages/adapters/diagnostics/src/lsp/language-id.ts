/** Language id: what the Language Server Protocol calls a file's language. */
import { extname } from "node:path";

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

/** Most are called like their extension. */
export function languageId(path: string): string {
  const extension = extname(path).toLowerCase();
  return ids[extension] ?? (extension.slice(1) || "plaintext");
}
