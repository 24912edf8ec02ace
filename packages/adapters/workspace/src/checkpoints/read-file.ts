/** One file as a checkpoint has it. */
import { type Failure, type FileInCheckpoint, isFailure } from "@lathe/protocol";
import { bytePath } from "../byte-path.ts";
import { kindOf, type TreeEntry } from "./git-objects.ts";
import type { ObjectReader } from "./object-reader.ts";

/** `path` relative to the root, with `/`; links are not followed. */
export async function readCheckpointFile(
  reader: ObjectReader,
  tree: string,
  path: string,
): Promise<FileInCheckpoint | Failure> {
  let id = tree;
  let entry: TreeEntry | undefined;
  for (const name of bytePath(path).split("/")) {
    if (entry && kindOf(entry.mode) !== "folder") return absent;
    const entries = await reader.tree(id);
    if (isFailure(entries)) return entries;
    entry = entries.find((one) => one.name === name);
    if (!entry) return absent;
    id = entry.id;
  }
  if (!entry || kindOf(entry.mode) !== "file") return { type: "other" };
  const bytes = await reader.read("blob", id);
  return isFailure(bytes) ? bytes : { type: "file", bytes };
}

const absent: FileInCheckpoint = { type: "absent" };
