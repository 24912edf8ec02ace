/** What an attempt changed of the tests or of what runs them, and what puts that back as it was in a copy of it. */
import { join } from "node:path";
import { readRegularFile } from "@lathe/extensions";
import type { Difference } from "@lathe/overlays";
import { isFailure } from "@lathe/protocol";
import { isSkipping, meaningOf, scriptsIn, testPart, withTestPart } from "./test-files.ts";

export interface Sides {
  /** The folder, and the attempt's copy of what it changed. */
  readonly base: string;
  readonly upper: string;
}

export interface TestChanges {
  readonly paths: readonly string[];
  /** A script that puts it back; absent where that is too much, or cannot be told. */
  readonly restore?: string;
}

/** As much as one command line may hold, encoded. */
const maxRestored = 64 * 1024;
const maxBytes = 512 * 1024;
const maxPaths = 200;

interface Changed {
  readonly path: string;
  readonly difference: Difference;
  /** What was there; undefined where nothing was. */
  readonly before: Uint8Array | undefined;
}

/** `command`: how the tests are run, where that is known; `text`: the difference of a file as text. */
export function testChanges(
  differences: readonly Difference[],
  { base, upper, command = "" }: Sides & { readonly command?: string | undefined },
  text: (difference: Difference) => string | undefined,
): TestChanges {
  const scripts = scriptsIn(command, textOf(base, "package.json"));
  const found = differences.flatMap((difference): readonly Changed[] => {
    const path = Buffer.from(difference.path, "latin1").toString();
    if (/^\.git(?:\/|$)/u.test(path) || difference.base.kind === "folder") return [];
    if (!isTestChange(difference, path, { base, upper, scripts, text })) return [];
    return [{ path, difference, before: difference.base.kind === "file" ? bytesOf(base, path) : undefined }];
  });
  const restore = restoring(found, { base, upper });
  return {
    paths: found.map(({ path }) => path).slice(0, maxPaths),
    ...(restore !== undefined && { restore }),
  };
}

interface Looking extends Sides {
  readonly scripts: ReadonlySet<string>;
  readonly text: (difference: Difference) => string | undefined;
}

function isTestChange(
  difference: Difference,
  path: string,
  { base, upper, scripts, text }: Looking,
): boolean {
  const { what, fork } = difference;
  if (what === "added" && fork.kind === "folder") return false;
  // No link of an attempt is followed.
  const [was, is] = [difference.base, fork].map(({ kind }, i) =>
    kind === "file" ? textOf(i === 0 ? base : upper, path) : undefined,
  );
  const before = testPart(path, was);
  if (before !== undefined) return fork.kind === "link" || before !== testPart(path, is);
  const meaning = meaningOf(path, scripts);
  if (meaning === "configuration") return true;
  if (meaning === "tests") return what !== "added";
  return what === "modified" && isSkipping(text(difference) ?? "");
}

function restoring(found: readonly Changed[], { upper }: Sides): string | undefined {
  const lines: string[] = [];
  let size = 0;
  for (const changed of found.filter(isRun)) {
    const put = putBack(changed, upper);
    if (!put) return undefined;
    size += put.size;
    lines.push(...put.lines);
  }
  return lines.length === 0 || size > maxRestored ? undefined : [clearing, ...lines].join(" &&\n");
}

/** What a service runs elsewhere is not run here. */
function isRun({ path, difference }: Changed): boolean {
  return difference.what !== "mode" && !/^\.(?:github|circleci|gitlab)/u.test(path);
}

/** Undefined where a person has to look at it. */
function putBack(
  { path, difference, before }: Changed,
  upper: string,
): { readonly lines: readonly string[]; readonly size: number } | undefined {
  if (/[\0\n\r']/u.test(path)) return undefined;
  const clear = `lathe_clear '${path}'`;
  if (difference.what === "added") return { lines: [clear], size: 0 };
  if (!before) return undefined;
  const bytes = restored(path, before, difference.fork.kind === "file" ? upper : undefined);
  const encoded = Buffer.from(bytes).toString("base64");
  const mode = (difference.base.mode & 0o777).toString(8);
  const lines = [clear, `printf %s '${encoded}' | base64 -d > './${path}'`, `chmod ${mode} './${path}'`];
  return { lines, size: bytes.length };
}

function restored(path: string, before: Uint8Array, upper: string | undefined): Uint8Array {
  if (upper === undefined || !path.endsWith("package.json")) return before;
  return Buffer.from(withTestPart(path, textOf(upper, path), Buffer.from(before).toString()));
}

/** Makes room for a file: no link of the attempt leads it elsewhere. */
const clearing = `lathe_clear() {
  rest=$1; at=.
  while case $rest in */*) true ;; *) false ;; esac; do
    at=$at/\${rest%%/*}; rest=\${rest#*/}
    if [ -L "$at" ] || { [ -e "$at" ] && [ ! -d "$at" ]; }; then rm -f "$at"; fi
    [ -d "$at" ] || mkdir "$at"
  done
  rm -rf "./$1"
}`;

function bytesOf(root: string, path: string): Uint8Array | undefined {
  const file = readRegularFile(join(root, path), maxBytes);
  return file && !isFailure(file) && !file.cut ? file.bytes : undefined;
}

function textOf(root: string, path: string): string | undefined {
  const bytes = bytesOf(root, path);
  return bytes && Buffer.from(bytes).toString();
}
