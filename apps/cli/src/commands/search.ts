/** `lathe search`: runs ranked code search over a folder. */

import { countFlag, readFlags, usage } from "@lathe/config";
import { type Failure, isFailure, rankedKinds } from "@lathe/protocol";
import type { Command } from "../command-line/command.ts";

const flags = {
  results: { type: "string", short: "k", value: "N", about: "files, 10 when not given" },
  path: { type: "string", value: "PATH", about: "only below this folder, or in this file" },
  kind: { type: "string", value: "KIND", values: rankedKinds, about: "only code, test or doc" },
  json: { type: "boolean", about: "as one JSON object" },
  "stdin-jsonl": {
    type: "boolean",
    about:
      'many queries, one {"id", "root", "query", "k"} per line; one {"id", "results"} per line comes back',
  },
  cwd: { type: "string", value: "DIR", about: "the folder that is searched, instead of this one" },
  debug: { type: "boolean", about: "more about what went wrong" },
} as const;

export const searchCommand: Command = {
  name: "search",
  about: "Finds code by what it does, what goes wrong, or a name; ranked, with the lines that matter.",
  usage: ['search "query" [-k N] [--json]', "search --stdin-jsonl < queries.jsonl"],
  flags,
  notes: `The index is built by the first search and kept in the user's cache folder; what changed since is \
taken in by each search. Files named by .gitignore or .latheignore are left out, and those that usually hold secrets.
Exit codes: 0 something found, 1 nothing found, 2 what failed, and usage.`,
  failed: 2,
  run,
};

async function run(argv: readonly string[]): Promise<number | Failure> {
  const line = readFlags(argv, flags);
  if (isFailure(line)) return line;
  const { values, words } = line;
  const k = countFlag("results", values.results, 1);
  if (isFailure(k)) return k;
  const { answerLines, searchOnce } = await import("../search/answer-queries.ts");
  if (values["stdin-jsonl"]) return words.length > 0 ? usage("--stdin-jsonl takes no words") : answerLines();
  const query = words.join(" ");
  if (query.trim() === "") return usage('say what to look for: lathe search "where are sessions resumed"');
  const kind = rankedKinds.find((one) => one === values.kind);
  if (values.kind !== undefined && !kind) return usage(`--kind takes code, test or doc, not ${values.kind}`);
  const asked = {
    query,
    k: Math.floor(k ?? 10),
    ...(kind && { kind }),
    ...(values.path && { path: values.path }),
  };
  return searchOnce(asked, { folder: values.cwd ?? process.cwd(), json: values.json === true });
}
