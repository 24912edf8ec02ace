/** Test changes: the changes of an attempt that affect its tests, and a script that reverts them. */
import type { ComparedCopy, CopyDifference } from "@lathe/protocol";
import { isSkipping, meaningOf, scriptsIn, testPart, withTestPart } from "./test-files.ts";
import { textDifference } from "./text-difference.ts";

export interface TestChanges {
  readonly paths: readonly string[];
  /** A script that reverts the changes; absent if there are too many for one, or they are unknown. */
  readonly restore?: string;
}

/** Bytes that one command line can hold, encoded. */
const maxRestored = 64 * 1024;
const maxPaths = 200;

interface Changed {
  readonly path: string;
  readonly difference: CopyDifference;
  /** The file before the change; undefined if there was none. */
  readonly before: Uint8Array | undefined;
}

/** `command`: the command that runs the tests, if known. */
export function testChanges(compared: ComparedCopy, command = ""): TestChanges {
  const scripts = scriptsIn(command, textOf(compared, "base", "package.json"));
  const found = compared.differences.flatMap((difference): readonly Changed[] => {
    const path = Buffer.from(difference.path, "latin1").toString();
    if (/^\.git(?:\/|$)/u.test(path) || difference.base.kind === "folder") return [];
    if (!isTestChange(difference, path, { compared, scripts })) return [];
    const before = difference.base.kind === "file" ? compared.bytesOf("base", difference.path) : undefined;
    return [{ path, difference, before }];
  });
  const restore = restoring(found, compared);
  return {
    paths: found.map(({ path }) => path).slice(0, maxPaths),
    ...(restore !== undefined && { restore }),
  };
}

interface Looking {
  readonly compared: ComparedCopy;
  readonly scripts: ReadonlySet<string>;
}

function isTestChange(difference: CopyDifference, path: string, { compared, scripts }: Looking): boolean {
  const { what, fork } = difference;
  if (what === "added" && fork.kind === "folder") return false;
  const textAt = (side: "base" | "fork"): string | undefined =>
    difference[side].kind === "file" ? textOf(compared, side, difference.path) : undefined;
  const [was, is] = [textAt("base"), textAt("fork")];
  const before = testPart(path, was);
  if (before !== undefined) return fork.kind === "link" || before !== testPart(path, is);
  const meaning = meaningOf(path, scripts);
  if (meaning === "configuration") return true;
  if (meaning === "tests") return what !== "added";
  return what === "modified" && isSkipping(textDifference(compared, difference) ?? "");
}

function restoring(found: readonly Changed[], compared: ComparedCopy): string | undefined {
  const lines: string[] = [];
  let size = 0;
  for (const changed of found.filter(isRun)) {
    const put = revert(changed, compared);
    if (!put) return undefined;
    size += put.size;
    lines.push(...put.lines);
  }
  return lines.length === 0 || size > maxRestored ? undefined : [clearing, ...lines].join(" &&\n");
}

/** Workflows of a service are not run here, so they need not be reverted. */
function isRun({ path, difference }: Changed): boolean {
  return difference.what !== "mode" && !/^\.(?:github|circleci|gitlab)/u.test(path);
}

/** Undefined if only a person can judge the change. */
function revert(
  { path, difference, before }: Changed,
  compared: ComparedCopy,
): { readonly lines: readonly string[]; readonly size: number } | undefined {
  if (/[\0\n\r']/u.test(path)) return undefined;
  const clear = `lathe_clear '${path}'`;
  if (difference.what === "added") return { lines: [clear], size: 0 };
  if (!before) return undefined;
  const isFile = difference.fork.kind === "file";
  const bytes = restored(path, before, isFile ? textOf(compared, "fork", difference.path) : undefined);
  const encoded = Buffer.from(bytes).toString("base64");
  const mode = (difference.base.mode & 0o777).toString(8);
  const lines = [clear, `printf %s '${encoded}' | base64 -d > './${path}'`, `chmod ${mode} './${path}'`];
  return { lines, size: bytes.length };
}

function restored(path: string, before: Uint8Array, own: string | undefined): Uint8Array {
  if (own === undefined || !path.endsWith("package.json")) return before;
  return Buffer.from(withTestPart(path, own, Buffer.from(before).toString()));
}

/** Makes room for a file, and removes links of the attempt that would lead elsewhere. */
const clearing = `lathe_clear() {
  rest=$1; at=.
  while case $rest in */*) true ;; *) false ;; esac; do
    at=$at/\${rest%%/*}; rest=\${rest#*/}
    if [ -L "$at" ] || { [ -e "$at" ] && [ ! -d "$at" ]; }; then rm -f "$at"; fi
    [ -d "$at" ] || mkdir "$at"
  done
  rm -rf "./$1"
}`;

function textOf(
  { bytesOf }: Pick<ComparedCopy, "bytesOf">,
  side: "base" | "fork",
  path: string,
): string | undefined {
  const bytes = bytesOf(side, path);
  return bytes && Buffer.from(bytes).toString();
}
