/** Run later: which changed files this machine's programs or later sessions will run or follow. */
import {
  type Checkpoints,
  changedScripts,
  type FileDifference,
  isFailure,
  isHiddenAtTop,
  isManifest,
  type RunLaterChanges,
  whyRunLater,
} from "@lathe/protocol";
import type { LazyCheckpoints } from "../host/session-archive.ts";

export function createRunLater(
  checkpoints: Pick<LazyCheckpoints, "open">,
): (from: string, to: string) => Promise<RunLaterChanges> {
  return async (from, to) => {
    const opened = await checkpoints.open();
    const files = isFailure(opened) ? opened : await opened.difference(from, to, { texts: false });
    if (isFailure(opened) || isFailure(files)) return { files: [], gone: [] };
    const marks = await runLaterMarks(opened, { from, to }, files);
    const byName = new Map([...marks].map(([path, why]) => [nameOf(path, why), why]));
    const gone = files.filter(({ kind }) => kind === "deleted").map(({ path }) => path);
    return { files: [...byName].map(([path, why]) => ({ path, why })), gone };
  };
}

/** Names a new folder once, instead of each file in it. */
function nameOf(path: string, why: string): string {
  return why === newFolder ? `${path.slice(0, path.indexOf("/"))}/` : path;
}

const newFolder = "new hidden folder";

export interface Compared {
  /** Checkpoint refs; without `to`, compares with the current files. */
  readonly from: string;
  readonly to: string | undefined;
}

/** Maps each path to the reason. */
export async function runLaterMarks(
  checkpoints: Pick<Checkpoints, "read">,
  compared: Compared,
  files: readonly FileDifference[],
): Promise<ReadonlyMap<string, string>> {
  const marks = new Map<string, string>();
  const known = new Map<string, boolean>();
  const isNewAtTop = async ({ path, kind }: FileDifference): Promise<boolean> => {
    if (kind !== "added" || !isHiddenAtTop(path)) return false;
    const [top = path] = path.split("/");
    const there = known.get(top) ?? (await isThere(checkpoints, compared.from, top));
    known.set(top, there);
    return !there;
  };
  for (const file of files) {
    const { path, kind: what } = file;
    const modes = { before: file.before?.mode ?? 0, after: file.after?.mode ?? 0 };
    const why =
      whyRunLater({ path, what, modes }, await isNewAtTop(file)) ??
      (isManifest(path) ? await scripts(checkpoints, compared, path) : undefined);
    if (why !== undefined) marks.set(path, why);
  }
  return marks;
}

async function isThere(checkpoints: Pick<Checkpoints, "read">, ref: string, path: string): Promise<boolean> {
  const found = await checkpoints.read(ref, path);
  return !isFailure(found) && found.type !== "absent";
}

async function scripts(
  checkpoints: Pick<Checkpoints, "read">,
  { from, to }: Compared,
  path: string,
): Promise<string | undefined> {
  const before = await textAt(checkpoints, from, path);
  // The current content of a file is not read here, only its name.
  const after = to === undefined ? "" : await textAt(checkpoints, to, path);
  return changedScripts(path, { before, after });
}

async function textAt(
  checkpoints: Pick<Checkpoints, "read">,
  ref: string,
  path: string,
): Promise<string | undefined> {
  const found = await checkpoints.read(ref, path);
  return isFailure(found) || found.type !== "file" ? undefined : new TextDecoder().decode(found.bytes);
}
