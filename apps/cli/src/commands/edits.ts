/** `lathe edits`: runs the edit engine alone, to evaluate edit formats. */

import { readFlags, usage } from "@lathe/config";
import { type Failure, isFailure } from "@lathe/protocol";
import type { Command } from "../command-line/command.ts";

const flags = {
  "stdin-jsonl": { type: "boolean", about: "one request per line; one answer per line comes back, in order" },
  debug: { type: "boolean", about: "more about what went wrong" },
} as const;

export const editsCommand: Command = {
  name: "edits",
  about: "Applies edits to texts as the agent would, and touches no file.",
  usage: ["edits apply --stdin-jsonl < requests.jsonl"],
  flags,
  notes: `A request is {"id", "path", "content", "format", ...}: with "format": "search_replace" and \
"edits": [{"old_string", "new_string", "replace_all"?}], or "v4a" or "udiff" and "patch".
An answer is {"id", "ok": true, "content", "tier", "warnings"} or {"id", "ok": false, "code", "error"}.
"path" only tells the language. The exit code is 0 also when edits are refused.`,
  run,
};

async function run(argv: readonly string[]): Promise<number | Failure> {
  const line = readFlags(argv, flags);
  if (isFailure(line)) return line;
  const [what, ...more] = line.words;
  if (what !== "apply" || more.length > 0 || !line.values["stdin-jsonl"]) {
    return usage("lathe edits apply --stdin-jsonl < requests.jsonl");
  }
  const { applyLines } = await import("../edits/apply-lines.ts");
  return applyLines(process.stdin, process.stdout);
}
