/**
 * Objects of a repository by ID: loose ones, those in packs, and those of the repositories it borrows from.
 */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { inflateSync } from "node:zlib";
import { type HeldFolder, holdFolder } from "../held-folder.ts";
import { type GitObject, ObjectError, type ObjectType } from "./git-object.ts";
import { heldBelow, readHeldFile } from "./held-file.ts";
import { PackFile } from "./pack-file.ts";

/** Commits and trees are far smaller. */
const maxBytes = 32 * 1024 * 1024;
const maxAlternates = 8;
const maxListBytes = 64 * 1024;
const maxPacks = 256;

export class ObjectStore {
  readonly #idBytes: number;
  readonly #folders: HeldFolder[] = [];
  #packs: PackFile[] | undefined;

  /** `objects`: the folder of that name, which the store closes. */
  constructor(objects: HeldFolder, idBytes: number) {
    this.#idBytes = idBytes;
    this.#folders.push(objects);
    this.#addAlternates(objects);
  }

  /**
   * *Contract:* throws `ObjectError` if the object is unavailable; also throws file system and decompression
   * errors.
   */
  read(id: string): GitObject {
    for (const folder of this.#folders) {
      const file = readHeldFile(folder, `${id.slice(0, 2)}/${id.slice(2)}`, maxBytes);
      if (file) return looseObject(file.bytes);
    }
    this.#packs ??= this.#openPacks();
    for (const pack of this.#packs) {
      const found = pack.read(id, (base) => this.read(base));
      if (found) return found;
    }
    throw new ObjectError(`there is no object ${id}`);
  }

  close(): void {
    for (const pack of this.#packs ?? []) pack.close();
    for (const folder of this.#folders) folder.close();
  }

  #addAlternates(objects: HeldFolder): void {
    const listed = readHeldFile(objects, "info/alternates", maxListBytes)?.bytes.toString() ?? "";
    const base = objects.path.toString();
    for (const line of listed.split("\n").filter((one) => one !== "" && !one.startsWith("#"))) {
      if (this.#folders.length > maxAlternates)
        throw new ObjectError("it borrows from too many repositories");
      const folder = holdFolder(realpathSync(resolve(base, line)));
      if (this.#folders.some(({ path }) => path === folder.path)) folder.close();
      else {
        this.#folders.push(folder);
        this.#addAlternates(folder);
      }
    }
  }

  #openPacks(): PackFile[] {
    const packs: PackFile[] = [];
    for (const objects of this.#folders) {
      const folder = heldBelow(objects, "pack");
      if (!folder) continue;
      try {
        const names = folder.list().flatMap(({ name }) => /^(pack-[0-9a-f]+)\.idx$/.exec(name)?.[1] ?? []);
        if (packs.length + names.length > maxPacks) throw new ObjectError("there are too many packs");
        for (const name of names)
          packs.push(new PackFile(folder, { name, idBytes: this.#idBytes, maxBytes }));
      } finally {
        folder.close();
      }
    }
    return packs;
  }
}

const header = /^(commit|tree|blob|tag) (\d{1,12})$/;

function looseObject(packed: Buffer): GitObject {
  const bytes = inflateSync(packed, { maxOutputLength: maxBytes });
  const end = bytes.indexOf(0);
  const [, type, size] = header.exec(bytes.toString("latin1", 0, Math.max(0, end))) ?? [];
  if (type === undefined || Number(size) !== bytes.length - end - 1)
    throw new ObjectError("a loose object is damaged");
  return { type: type as ObjectType, bytes: bytes.subarray(end + 1) };
}
