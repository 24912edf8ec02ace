/** Words before a command's own that hold it to limits, for drivers whose program sets none. */

import type { Shell } from "../environment/shell.ts";
import type { Limits } from "../policy/policy.ts";

/** Starts what follows in these control groups. */
export function joinedWords(joins: readonly string[]): readonly string[] {
  if (joins.length === 0) return [];
  const script = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ > "$1"; shift; n=$((n - 1)); done; exec "$@"';
  return ["/bin/sh", "-c", script, "sh", String(joins.length), ...joins];
}

/** Limits of single processes; what cannot be set because less is allowed anyway stays as it is. */
export function limitedWords(shell: Shell, limits: Limits, holdMemory: boolean): readonly string[] {
  const isBash = shell.file.endsWith("/bash");
  // Only bash counts files in kilobytes; the others' word for processes is another.
  const fileBlocks = Math.floor(limits.fileBytes / (isBash ? 1024 : 512));
  const settings = [
    "-c 0",
    `-f ${fileBlocks}`,
    `-${isBash ? "u" : "p"} ${limits.processes}`,
    ...(holdMemory ? [] : [`-d ${Math.floor(limits.memoryBytes / 1024)}`]),
  ];
  const script = settings.map((setting) => `ulimit ${setting}; `).join("");
  return [shell.file, ...shell.options, "-c", `{ ${script}} 2>/dev/null; exec "$@"`, shell.file];
}
