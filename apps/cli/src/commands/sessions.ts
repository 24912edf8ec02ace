/** `lathe sessions`: earlier sessions, listed or shown. */
import { type Failure, isFailure } from "@lathe/protocol";
import type { Command } from "../command.ts";
import { type Line, readFlags } from "../flags.ts";
import { usage } from "../run-options.ts";

const flags = {
  here: { type: "boolean", about: "list: only sessions of this folder" },
  limit: { type: "string", value: "N", about: "list: at most so many (default 20)" },
  to: {
    type: "string",
    value: "STEP",
    about: "rewind: to right before this step (default: before the last turn)",
  },
  files: { type: "boolean", about: "rewind: only the files" },
  conversation: { type: "boolean", about: "rewind: only the conversation" },
  force: { type: "boolean", about: "rewind: also over what somebody else has changed since" },
  undo: { type: "boolean", about: "rewind: take the last rewind back" },
  format: {
    type: "string",
    value: "FORMAT",
    about: "export: edits (one JSON line per applied edit), or atif (the whole of it)",
  },
  json: { type: "boolean", about: "as JSON" },
  debug: { type: "boolean", about: "more about what went wrong" },
} as const;

export const sessionsCommand: Command = {
  name: "sessions",
  about: "Lists earlier sessions, shows one of them, what it changed or cost, and takes it back.",
  usage: [
    "sessions list [--here] [--limit N]",
    "sessions show ID",
    "sessions diff ID",
    "sessions cost ID",
    "sessions rewind ID [--to STEP] [--files | --conversation] [--force]",
    "sessions rewind ID --undo",
    "sessions export ID --format edits|atif",
  ],
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
  if (id !== undefined && more.length === 0) {
    const work = commands[what];
    if (work) return work(id, line.values);
  }
  return usage(
    Object.hasOwn(commands, what)
      ? `say which one: lathe sessions ${what} ID`
      : `sessions list, or sessions ${Object.keys(commands).join(", ")} with an ID`,
  );
}

type Values = Line<typeof flags>["values"];

/** What is done with one session. */
const commands: Readonly<Record<string, (id: string, values: Values) => Promise<number | Failure>>> = {
  show: async (id, { json = false }) => (await import("../sessions/show-session.ts")).showCommand(id, json),
  diff: async (id, { json = false }) => (await import("../sessions/diff-command.ts")).diffCommand(id, json),
  cost: async (id, { json = false }) => (await import("../sessions/cost-command.ts")).costCommand(id, json),
  export: async (id, { format }) => (await import("../sessions/export-command.ts")).exportCommand(id, format),
  rewind: async (id, values) => {
    const { to, files = false, conversation = false, force = false, undo = false, json = false } = values;
    const { rewindCommand } = await import("../sessions/rewind-command.ts");
    return rewindCommand(id, { to, files, conversation, force, undo, json });
  },
};
