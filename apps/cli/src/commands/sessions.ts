/** `lathe sessions`: earlier sessions, listed or shown. */
import { type Failure, isFailure } from "@lathe/protocol";
import type { Command } from "../command.ts";
import { readFlags } from "../flags.ts";
import { usage } from "../run-options.ts";

const flags = {
  here: { type: "boolean", about: "list: only sessions of this folder" },
  limit: { type: "string", value: "N", about: "list: at most so many (default 20)" },
  json: { type: "boolean", about: "as JSON" },
  debug: { type: "boolean", about: "more about what went wrong" },
} as const;

export const sessionsCommand: Command = {
  name: "sessions",
  about: "Lists earlier sessions, newest first, or shows one of them.",
  usage: ["sessions list [--here] [--limit N]", "sessions show ID"],
  flags,
  notes: "An ID may be cut short as long as it is the only one that begins so.",
  run,
};

async function run(argv: readonly string[]): Promise<number | Failure> {
  const line = readFlags(argv, flags);
  if (isFailure(line)) return line;
  const [what = "list", id, ...more] = line.words;
  const json = line.values.json === true;
  if (what === "list" && id === undefined) {
    const { listCommand } = await import("../sessions/list-sessions.ts");
    return listCommand({ json, here: line.values.here === true, limit: line.values.limit });
  }
  if (what === "show" && id !== undefined && more.length === 0) {
    const { showCommand } = await import("../sessions/show-session.ts");
    return showCommand(id, json);
  }
  return usage(
    what === "show" ? "say which one: lathe sessions show ID" : `sessions list, or sessions show ID`,
  );
}
