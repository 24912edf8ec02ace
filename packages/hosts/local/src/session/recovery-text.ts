/** Recovery text: what a process that died in the middle of a commit left behind, and how it was resolved. */
import type { Recovery } from "@lathe/workspace";

const pathsNamed = 5;

export function recoveryText({ back, left, failed }: Recovery): string {
  const parts = [
    ...(back.length > 0 ? [`restored ${named(back)}`] : []),
    ...(left.length > 0 ? [`kept ${named(left)}, changed since`] : []),
    ...failed.map(({ text }) => text),
  ];
  return `an earlier change to several files was interrupted; ${parts.join("; ")}`;
}

function named(paths: readonly string[]): string {
  const more = paths.length > pathsNamed ? ` and ${paths.length - pathsNamed} more` : "";
  return paths.slice(0, pathsNamed).join(", ") + more;
}
