/** Workplace: a built environment for one agent or one grading: a copy of it, or a copy-on-write view. */
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Failure, ForkLayers } from "@lathe/protocol";
import { isRealFolder, kindOf } from "../own-files.ts";

/** A path that a view differs in from what it is a view of. */
export interface Change {
  /** Below the root, with `/`; one character per byte. */
  readonly path: string;
  /** What is there now. */
  readonly kind: Kind;
  /** What it was. */
  readonly base: Kind;
}

type Kind = "file" | "folder" | "link" | "other" | "absent";

/** Where views of folders can be opened. */
export interface Views {
  /** *Contract:* of all that is below the root; while nothing has the view open. */
  changes(root: string, layers: ForkLayers): Promise<readonly Change[] | Failure>;
}

export interface Workplace {
  /** Where what runs in it sees it: `app`, and what is put beside it. */
  readonly root: string;
  /** Where the host puts in it what is to be seen below the root, before anything runs, and reads what came of it after. */
  readonly own: string;
  /** Of a view. */
  readonly layers?: ForkLayers;
}

/** *Contract:* the folder is not there yet; a view shows what `root` holds, a copy is empty. */
export function makeWorkplace(folder: string, root: string, isView: boolean): Workplace {
  mkdirSync(folder, { recursive: true });
  if (!isView) return { root: folder, own: folder };
  const layers = { upper: join(folder, "upper"), work: join(folder, "work") };
  for (const path of [layers.upper, layers.work]) mkdirSync(path);
  // The view's top has the permissions of the layer.
  chmodSync(layers.upper, 0o755);
  return { root, own: layers.upper, layers };
}

/** Whether the project's folder is still one: in a view where nothing was changed there is none to look at. */
export function isWhole({ own, layers }: Workplace): boolean {
  const app = join(own, "app");
  return isRealFolder(app) || (layers !== undefined && kindOf(app) === undefined);
}
