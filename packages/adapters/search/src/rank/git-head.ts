/** The commit a worktree is at, read from its files. */
import { join } from "node:path";
import { readSmallText } from "@lathe/system";
import type { Repository } from "../tree/git-index.ts";

/** Undefined where there is none, or one that only git can find. */
export function headOf({ folder, common }: Repository): string | undefined {
  const head = readLine(join(folder, "HEAD"));
  const ref = /^ref: (refs\/\S+)$/.exec(head ?? "")?.[1];
  if (ref === undefined) return commitIn(head);
  return commitIn(readLine(join(common, ref))) ?? packed(common, ref);
}

function packed(common: string, ref: string): string | undefined {
  const lines = readWhole(join(common, "packed-refs"))?.split("\n") ?? [];
  return commitIn(lines.find((line) => line.slice(41) === ref)?.slice(0, 40));
}

function commitIn(line: string | undefined): string | undefined {
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.exec(line ?? "")?.[0];
}

function readLine(path: string): string | undefined {
  return readWhole(path)?.trim();
}

/** Packed references of a very large repository. */
const maxBytes = 64 * 1024 * 1024;

function readWhole(path: string): string | undefined {
  return readSmallText(path, maxBytes);
}
