/** Front matter: the fields at the head of a Markdown file. */
import type { Fields } from "./fields.ts";
import { readPlainHead } from "./plain-head.ts";

export interface Markdown {
  readonly fields: Fields;
  readonly body: string;
}

/** A sentence when the head cannot be read; a file without one is all body. */
export async function readFrontMatter(text: string): Promise<Markdown | string> {
  const plain = text.replace(/^\uFEFF/u, "").replaceAll("\r\n", "\n");
  if (!/^---[ \t]*\n/u.test(plain)) return { fields: {}, body: plain };
  const found = /^---[ \t]*\n([\s\S]*?)(?<=\n)---[ \t]*(?:\n|$)/u.exec(plain);
  if (!found) return "its head has no end: a line of three hyphens";
  const head = found[1] ?? "";
  const fields = readPlainHead(head) ?? (await import("./yaml-head.ts")).readYamlHead(head);
  if (typeof fields === "string") return `its head cannot be read: ${fields}`;
  return { fields, body: plain.slice(found[0].length) };
}
