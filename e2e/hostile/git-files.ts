/**
 * Writes a repository's files without git: many times faster, and with content that git itself would refuse.
 */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";

export interface Tracked {
  readonly path: string;
  readonly text: string;
}

/** A folder that the index treats as another repository. */
export interface Gitlink {
  readonly path: string;
  readonly commit: string;
}

export interface GitFiles {
  readonly files: readonly Tracked[];
  readonly links?: readonly Gitlink[];
  readonly config: string;
  readonly branch?: string;
  /** Lines of the commit's header that git may act on. */
  readonly header?: string;
}

interface Entry {
  readonly path: string;
  readonly mode: number;
  readonly id: string;
  readonly size: number;
}

/**
 * *Contract:* returns the ID of its one commit. The index has other times than the files, so that git reads
 * each file.
 */
export function writeGitFiles(
  folder: string,
  { files, links = [], config, branch, header }: GitFiles,
): string {
  const put = (path: string, text: string | Uint8Array): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const object = (type: string, content: Buffer): string => {
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const id = createHash("sha1").update(whole).digest("hex");
    put(`objects/${id.slice(0, 2)}/${id.slice(2)}`, deflateSync(whole, { level: 1 }));
    return id;
  };
  const entries: readonly Entry[] = [
    ...files.map(({ path, text }) => {
      const content = Buffer.from(text);
      return { path, mode: 0o100644, id: object("blob", content), size: content.length };
    }),
    ...links.map(({ path, commit }) => ({ path, mode: 0o160000, id: commit, size: 0 })),
  ].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  const tree = writeTree(entries, object);
  const who = "a <a@example.com> 1700000000 +0000";
  const commit = object(
    "commit",
    Buffer.from(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n${header ?? ""}\nfirst\n`),
  );
  const head = branch ?? "main";
  put("HEAD", `ref: refs/heads/${head}\n`);
  put(`refs/heads/${head}`, `${commit}\n`);
  put("config", config);
  put("index", indexOf(entries));
  return commit;
}

/** Writes the folders, innermost first. */
function writeTree(entries: readonly Entry[], object: (type: string, content: Buffer) => string): string {
  const here = new Map<string, { mode: number; id: string }>();
  const below = new Map<string, Entry[]>();
  for (const entry of entries) {
    const cut = entry.path.indexOf("/");
    if (cut < 0) here.set(entry.path, entry);
    else {
      const name = entry.path.slice(0, cut);
      below.set(name, [...(below.get(name) ?? []), { ...entry, path: entry.path.slice(cut + 1) }]);
    }
  }
  for (const [name, inner] of below) here.set(name, { mode: 0o40000, id: writeTree(inner, object) });
  const rows = [...here].map(([name, { mode, id }]) => ({
    key: Buffer.from(mode === 0o40000 ? `${name}/` : name),
    row: Buffer.concat([Buffer.from(`${mode.toString(8)} ${name}\0`), Buffer.from(id, "hex")]),
  }));
  rows.sort((a, b) => Buffer.compare(a.key, b.key));
  return object("tree", Buffer.concat(rows.map(({ row }) => row)));
}

/** Builds version 2 of git's index. */
function indexOf(entries: readonly Entry[]): Buffer {
  const head = Buffer.alloc(12);
  head.write("DIRC");
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(entries.length, 8);
  const rows = entries.map(({ path, mode, id, size }) => {
    const name = Buffer.from(path);
    const length = 62 + name.length;
    const row = Buffer.alloc(length + 8 - (length % 8));
    row.writeUInt32BE(1, 0);
    row.writeUInt32BE(1, 8);
    row.writeUInt32BE(mode, 24);
    row.writeUInt32BE(size, 36);
    row.write(id, 40, "hex");
    row.writeUInt16BE(Math.min(name.length, 0xfff), 60);
    name.copy(row, 62);
    return row;
  });
  const content = Buffer.concat([head, ...rows]);
  return Buffer.concat([content, createHash("sha1").update(content).digest()]);
}
