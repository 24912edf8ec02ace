/** Forks as folders: a copy-on-write view of a folder lies in a folder of its own, outside of what it is a view of. */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Failure, type ForkLayers, failure } from "@lathe/protocol";
import { removeTree } from "@lathe/system";
import { isAbandoned, takeFolder } from "./spare-folders.ts";

export interface Fork extends ForkLayers {
  readonly id: string;
  /** Real path of the folder that it is a view of. */
  readonly base: string;
  /** Holds the layers, and what is known of the fork. */
  readonly folder: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  /** What it was made for, e.g. the task or the command. */
  readonly about: string;
  /** Whose attempt is to work in it. */
  readonly session?: string;
  /** The kernel's time after which a change of the base is one that the fork may not know of. */
  readonly since: { readonly seconds: string; readonly nanoseconds: string };
}

export interface ForkPlace {
  /** Where forks lie; made when it is first needed. */
  readonly folder: string;
  readonly id: string;
  readonly about: string;
  /** Whose attempt is to work in it. */
  readonly session?: string;
}

const metaName = "fork.json";
const goneName = ".gone-";

/** *Contract:* its base may be changed by nobody while a fork of it is open; throws what the file system throws. */
export function makeFork(base: string, { folder: forks, id, about, session }: ForkPlace): Fork {
  const folder = takeFolder(forks, id, metaName);
  // The view's top has the permissions of the layer.
  chmodSync(join(folder, "upper"), lstatSync(base).mode & 0o777);
  rememberIndex(base, folder);
  const known = { base, madeAt: Date.now(), about, ...(session !== undefined && { session }) };
  writeFileSync(join(folder, metaName), JSON.stringify({ v: 1, ...known }));
  return forkIn(folder, id, known);
}

function forkIn(
  folder: string,
  id: string,
  known: Pick<Fork, "base" | "madeAt" | "about" | "session">,
): Fork {
  const { ctimeNs } = lstatSync(join(folder, metaName), { bigint: true });
  const since = {
    seconds: String(ctimeNs / 1_000_000_000n),
    nanoseconds: String(ctimeNs % 1_000_000_000n),
  };
  return { id, ...known, folder, since, upper: join(folder, "upper"), work: join(folder, "work") };
}

const indexName = "index";

/** Git puts a new one in its place, so that a second name of it is a copy that costs nothing. */
function rememberIndex(base: string, folder: string): void {
  const [index, copy] = [join(base, ".git", "index"), join(folder, indexName)];
  if (!existsSync(index)) return;
  try {
    linkSync(index, copy);
  } catch {
    // Another disk, or somebody else's file.
    copyFileSync(index, copy);
  }
}

/** Git's index as it was when the fork was made; undefined where there was none. */
export function rememberedIndex({ folder }: Fork): Buffer | undefined {
  const path = join(folder, indexName);
  return existsSync(path) ? readFileSync(path) : undefined;
}

/** Undefined when there is none. */
export function readFork(forks: string, id: string): Fork | undefined {
  const folder = join(forks, id);
  try {
    const text = readFileSync(join(folder, metaName), "utf8");
    const { v, base, madeAt, about, session } = JSON.parse(text) as Record<string, unknown>;
    if (v !== 1 || typeof base !== "string" || typeof madeAt !== "number") return undefined;
    const whose = typeof session === "string" ? { session } : {};
    return forkIn(folder, id, { base, madeAt, about: String(about), ...whose });
  } catch {
    return undefined;
  }
}

/** The oldest first. */
export function listForks(forks: string): readonly Fork[] {
  const found = namesIn(forks).flatMap((id) => readFork(forks, id) ?? []);
  return found.toSorted((a, b) => a.madeAt - b.madeAt || (a.id < b.id ? -1 : 1));
}

/** *Contract:* while nobody has it open; a fork whose removal was cut short is gone all the same. */
export function dropFork(fork: Fork): Failure | undefined {
  const forks = join(fork.folder, "..");
  try {
    const gone = join(forks, `${goneName}${fork.id}-${randomBytes(3).toString("hex")}`);
    renameSync(fork.folder, gone);
    removeTree(Buffer.from(gone));
    return undefined;
  } catch (cause) {
    return failure("no-access", `the fork ${fork.id} could not be removed whole: ${String(cause)}`, {
      who: "host",
      cause,
    });
  }
}

/** What removals and preparations that were cut short have left; best effort. */
export function sweepForks(forks: string): void {
  for (const name of namesIn(forks)) {
    if (!name.startsWith(goneName) && !isAbandoned(forks, name)) continue;
    try {
      removeTree(Buffer.from(join(forks, name)));
    } catch {
      // Another process is at it, or it is tried again the next time.
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
