/** Names that a disk treats as one although they differ in case or in Unicode form. */
import { basename, dirname } from "node:path";
import { type HeldFolder, withFolder } from "@lathe/system/held-folder";
import { ifThere } from "../held-places.ts";

/** The name under which the entry is listed, if that differs from the path's own: the disk decides. */
export function otherSpelling(absolute: string): string | undefined {
  const name = basename(absolute);
  const names = ifThere(() => withFolder(dirname(absolute), namesIn)) ?? [];
  return names.includes(name) ? undefined : names.find((other) => isLike(other, name));
}

function namesIn(folder: HeldFolder): readonly string[] {
  return folder.list().map((entry) => entry.name);
}

export function isLike(a: string, b: string): boolean {
  return fold(a) === fold(b);
}

export function existsText(path: string, absolute: string): string {
  const other = otherSpelling(absolute);
  if (other === undefined) return `${path} already exists.`;
  return `${path} already exists as ${other}: this disk takes the two names for one.`;
}

function fold(name: string): string {
  return name.normalize("NFC").toLowerCase().normalize("NFC");
}
