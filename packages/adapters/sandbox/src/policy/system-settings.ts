/** Copies the part of /etc that programs need, once per sandbox: the rest may hold keys and passwords. */
import { createHash, randomBytes } from "node:crypto";
import { copyFileSync, lstatSync, mkdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { kindOf } from "@lathe/system/paths";
import { type Answer, keepAnswers, type Notes } from "../paths/kept-answers.ts";
import { isTrusted } from "../paths/trusted-path.ts";
import type { Mount } from "./policy.ts";

const files = (
  "passwd group hosts host.conf resolv.conf nsswitch.conf services protocols ld.so.cache ld.so.conf localtime timezone " +
  "os-release debian_version lsb-release ssl/openssl.cnf inputrc locale.conf default/locale mime.types magic machine-id " +
  "login.defs"
).split(" ");

/** Bound as they are: copying them would take longer than a bind mount for each command. */
const folders = (
  "alternatives ssl/certs pki crypto-policies fonts java-11-openjdk java-17-openjdk java-21-openjdk maven perl python3 " +
  "static ImageMagick-6 ImageMagick-7"
).split(" ");

/** Copies the files into `to`, and returns mounts that show them, with the folders, as /etc. */
export function settingsMounts(to: string): readonly Mount[] {
  copyFiles(to);
  return [{ kind: "read-only", from: to, to: "/etc" }, ...folderMounts()];
}

/** Real paths of the files and folders that exist. */
export function settingsPaths(): readonly string[] {
  return [...files, ...folders].map((name) => join("/etc", name)).filter(exists);
}
const keep = keepAnswers<readonly Mount[]>();

/** The same from a copy in `cache`, which is renewed only after one of the files has changed. */
export function cachedSettingsMounts(cache: string): Answer<readonly Mount[]> {
  return keep(cache, (notes) => {
    for (const name of [...files, ...folders]) noteSetting(name, notes);
    const to = join(cache, `etc-${stampOf()}`);
    if (!isTrusted(to)) copyInto(to);
    notes.content(to);
    return [{ kind: "read-only", from: to, to: "/etc" }, ...folderMounts()];
  });
}

/**
 * The parent folder shows whether a file came or went; a write in place or behind a link shows only on the
 * file.
 */
function noteSetting(name: string, notes: Notes): void {
  const path = join("/etc", name);
  const above = dirname(path);
  notes.content(above);
  const kind = kindOf(path);
  if (kind && !kind.isDirectory()) notes.content(path);
}

function copyInto(to: string): void {
  const made = `${to}.${randomBytes(6).toString("hex")}`;
  copyFiles(made);
  try {
    renameSync(made, to);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    // Another Lathe process may have made the copy first.
    if (!isTrusted(to)) throw error;
  }
}

function copyFiles(to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o755 });
  for (const name of files) copy(name, to);
  for (const name of shownFolders()) mkdirSync(join(to, name), { recursive: true });
}

function folderMounts(): readonly Mount[] {
  return shownFolders().map((name) => {
    const path = join("/etc", name);
    return { kind: "read-only", from: realpathSync(path), to: path };
  });
}

function shownFolders(): readonly string[] {
  return folders.filter((name) => exists(join("/etc", name)));
}

function stampOf(): string {
  const hash = createHash("sha256");
  for (const name of [...files, ...folders]) {
    const found = statSync(join("/etc", name), { throwIfNoEntry: false });
    // Only a folder's existence counts: it is shown as it is.
    const version = found?.isFile() ? `${found.ino} ${found.size} ${found.mtimeMs}` : found !== undefined;
    hash.update(`${name} ${version}\n`);
  }
  return hash.digest("hex").slice(0, 24);
}

function copy(name: string, to: string): void {
  const from = join("/etc", name);
  if (!exists(from)) return;
  try {
    if (dirname(name) !== ".") mkdirSync(dirname(join(to, name)), { recursive: true });
    copyFileSync(realpathSync(from), join(to, name));
  } catch {
    // Commands do without files that cannot be read and links that lead nowhere.
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
