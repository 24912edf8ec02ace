/** Reads the edits that the `try_mutations` tool reported. */

import type { Repair } from "../repair-types.ts";

export type FoundRepair = Omit<Repair, "line"> & { readonly where: string };

/** The edits of a result, best first. */
export function foundRepairs(result: string): readonly FoundRepair[] {
  return [...result.matchAll(/^\d+\. (\S+:\d+) (.*)\n(\{.*\})$/gm)].flatMap((match) => {
    const parsed: unknown = JSON.parse(match[3] ?? "{}");
    const { path, old, new: text } = parsed as Partial<Repair>;
    if (path === undefined || old === undefined || text === undefined) return [];
    return [{ path, old, new: text, description: match[2] ?? "", where: match[1] ?? path }];
  });
}
