/** Parses a patch in either format. */
import type { Failure } from "@lathe/protocol";
import { parseUdiff } from "./parse-udiff.ts";
import { parseV4a } from "./parse-v4a.ts";
import type { PatchFile } from "./patch-file.ts";

export type { PatchFile } from "./patch-file.ts";

export type PatchDialect = "v4a" | "udiff";

export interface Patch {
  readonly patch: string;
  /** The stated format; the patch's own marks take precedence. */
  readonly dialect?: PatchDialect;
  /** The file for a patch that names none. */
  readonly path?: string;
}

/** The files in the order of the patch, at least one. */
export function parsePatch({ patch, dialect, path }: Patch): readonly PatchFile[] | Failure {
  return (dialectOf(patch) ?? dialect) === "udiff" ? parseUdiff(patch, path) : parseV4a(patch, path);
}

/** Undefined if it has marks of both or neither: a file may contain a patch. */
function dialectOf(patch: string): PatchDialect | undefined {
  const isUdiff = /^(?:diff --git |--- \S.*\n\+\+\+ )/m.test(patch);
  const isV4a = /^\*{3} *(?:Update|Add|Delete) File:/m.test(patch);
  return isUdiff === isV4a ? undefined : isUdiff ? "udiff" : "v4a";
}
