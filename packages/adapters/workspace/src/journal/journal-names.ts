/** The names in a journal folder: one journal per process, those being recovered, and the lock. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../file-failure.ts";
import { ownerName, type ProcessOwner, parseOwner } from "./process-owner.ts";

const suffix = ".journal";

/** A journal being recovered also carries its claimer's name: the rename makes the claim exclusive. */
export interface JournalName {
  readonly path: string;
  readonly owner: ProcessOwner;
  readonly claimer?: ProcessOwner;
}

export function journalName(folder: string, owner: ProcessOwner, claimer?: ProcessOwner): JournalName {
  const names = [owner, ...(claimer ? [claimer] : [])].map(ownerName);
  return { path: join(folder, names.join("~") + suffix), owner, ...(claimer && { claimer }) };
}

export function lockPath(folder: string): string {
  return join(folder, "lock");
}

/** *Contract:* empty if there is no such folder. */
export function journalsIn(folder: string): readonly JournalName[] {
  return namesIn(folder).flatMap((name) => {
    if (!name.endsWith(suffix)) return [];
    const [owner, claimer] = name.slice(0, -suffix.length).split("~").map(parseOwner);
    return owner ? [{ path: join(folder, name), owner, ...(claimer && { claimer }) }] : [];
  });
}

/** *Contract:* false if the folder cannot be read. */
export function hasJournals(folder: string): boolean {
  try {
    return journalsIn(folder).length > 0;
  } catch (error) {
    errorCode(error);
    return false;
  }
}

/** *Contract:* empty if there is no such folder. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error))) return [];
    throw error;
  }
}
