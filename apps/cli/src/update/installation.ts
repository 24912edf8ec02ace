/** How this copy of Lathe was installed, and the command that updates it. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { quoteWord } from "@lathe/protocol";
import * as v from "valibot";

/**
 * `setup` is a package that `npm run setup` installed from a clone; `global` and `project` are other npm
 * installs.
 */
export interface Installation {
  readonly how: "clone" | "setup" | "global" | "project";
  /** The clone, npm's prefix, or the project. */
  readonly folder: string;
}

/** The root of a clone, or of the installed package. */
export const ownRoot: string = fileURLToPath(new URL("../../../../", import.meta.url)).replace(/\/$/, "");

const noteSchema = v.object({ clone: v.string() });

export function installationOf(root: string): Installation {
  if (existsSync(join(root, "scripts", "setup.mjs"))) return { how: "clone", folder: root };
  const clone = cloneOf(root);
  if (clone !== undefined) return { how: "setup", folder: clone };
  const above = dirname(dirname(root));
  if (basename(above) === "lib") return { how: "global", folder: dirname(above) };
  return { how: "project", folder: above };
}

/** The update command; undefined if the clone it was made from no longer exists. */
export function updateCommand({ how, folder }: Installation): string | undefined {
  if (how === "clone" || how === "setup") {
    if (!existsSync(join(folder, "scripts", "setup.mjs"))) return undefined;
    return `cd ${word(folder)} && git pull && npm ci && npm run setup`;
  }
  if (how === "global") return `npm install --global --prefix ${word(folder)} ./lathe-agent-VERSION.tgz`;
  return `cd ${word(folder)} && npm install ./lathe-agent-VERSION.tgz`;
}

function word(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : quoteWord(path);
}

/** `scripts/setup.mjs` leaves a note next to the package. */
function cloneOf(root: string): string | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(join(root, "installed-from.json"), "utf8"));
    return v.parse(noteSchema, note).clone;
  } catch {
    return undefined;
  }
}
