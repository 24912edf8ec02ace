/** `lathe sessions`: lists, shows and manages earlier sessions. */
import { type Line, readFlags, usage } from "@lathe/config";
import { type Failure, isFailure } from "@lathe/protocol";
import type { Command } from "../command-line/command.ts";

const flags = {
  here: { type: "boolean", about: "list: only sessions in this folder" },
  limit: { type: "string", value: "N", about: "list: at most N sessions (default 20)" },
  search: { type: "string", value: "WORDS", about: "list: only sessions with these words in the title" },
  to: {
    type: "string",
    value: "STEP",
    about: "the state before this step (default for rewind: before the last turn; for fork: the end)",
  },
  files: { type: "boolean", about: "rewind: only the files" },
  conversation: { type: "boolean", about: "rewind: only the conversation" },
  force: { type: "boolean", about: "rewind: overwrite what others changed since" },
  undo: { type: "boolean", about: "rewind: revert the last rewind" },
  focus: { type: "string", value: "TEXT", about: "compact: what the summary should focus on" },
  format: {
    type: "string",
    value: "FORMAT",
    values: ["markdown", "html", "edits", "atif", "jsonl"],
    about: "export: markdown, html (a page to share), edits, atif, jsonl",
  },
  yes: { type: "boolean", about: "delete: do not ask" },
  question: { type: "string", value: "N", about: "answer: the question, if several are open" },
  json: { type: "boolean", about: "as JSON" },
  debug: { type: "boolean", about: "more about what went wrong" },
} as const;

export const sessionsCommand: Command = {
  name: "sessions",
  about:
    "List, show, name, fork, export, compact, rewind or delete sessions; answer their questions; show what they changed and cost.",
  usage: [
    "sessions list [--here] [--limit N] [--search WORDS]",
    "sessions show ID",
    "sessions diff ID",
    "sessions output ID [N | last]",
    "sessions cost ID",
    "sessions context ID",
    "sessions compact ID [--focus TEXT]",
    "sessions rewind ID [--to STEP] [--files | --conversation] [--force]",
    "sessions rewind ID --undo",
    "sessions answer ID [ANSWER] [--question N]",
    "sessions name ID NAME",
    "sessions fork ID [--to STEP]",
    "sessions delete ID... [--yes]",
    "sessions export ID --format markdown|html|edits|atif|jsonl",
  ],
  words: "sessions",
  flags,
  notes: "ID is any unique prefix of a session ID.",
  run,
};

async function run(argv: readonly string[]): Promise<number | Failure> {
  const line = readFlags(argv, flags);
  if (isFailure(line)) return line;
  const [what = "list", id, ...more] = line.words;
  const json = line.values.json === true;
  if (what === "list" && id === undefined) {
    const { listCommand } = await import("../sessions/list-sessions.ts");
    const { here = false, limit, search } = line.values;
    return listCommand({ json, here, limit, search });
  }
  if (what === "name" && id !== undefined && more.length > 0) {
    const { nameCommand } = await storedSession();
    return nameCommand(id, more.join(" "));
  }
  if (what === "answer" && id !== undefined) {
    const { answerCommand } = await import("../sessions/answer-command.ts");
    return answerCommand(id, more.join(" "), { question: line.values.question, json });
  }
  if (what === "delete" && id !== undefined) {
    const { deleteCommand } = await import("../sessions/delete-command.ts");
    return deleteCommand([id, ...more], { yes: line.values.yes === true, json });
  }
  const [which, ...rest] = more;
  if (id !== undefined && rest.length === 0 && (which === undefined || what === "output")) {
    const work = commands[what];
    if (work) return work(id, line.values, which);
  }
  return usage(
    Object.hasOwn(commands, what)
      ? `say which one: lathe sessions ${what} ID`
      : `sessions list, sessions name ID NAME, sessions answer ID, sessions delete ID, or sessions ${Object.keys(commands).join(", ")} with an ID`,
  );
}

const storedSession = () => import("../sessions/stored-session.ts");

type Values = Line<typeof flags>["values"];

/** The actions on one session. */
const commands: Readonly<
  Record<string, (id: string, values: Values, which?: string) => Promise<number | Failure>>
> = {
  show: async (id, { json = false }) => (await import("../sessions/show-session.ts")).showCommand(id, json),
  diff: async (id, { json = false }) => (await storedSession()).diffCommand(id, json),
  cost: async (id, { json = false }) => (await storedSession()).costCommand(id, json),
  output: async (id, { json = false }, which) =>
    (await import("../sessions/output-command.ts")).outputCommand(id, which, json),
  context: async (id, { json = false }) => (await storedSession()).contextCommand(id, json),
  compact: async (id, { focus, json = false }) => (await storedSession()).compactCommand(id, { focus, json }),
  export: async (id, { format }) => (await import("../sessions/export-command.ts")).exportCommand(id, format),
  fork: async (id, { to, json = false }) => (await storedSession()).forkCommand(id, { to, json }),
  rewind: async (id, values) => {
    const { to, files = false, conversation = false, force = false, undo = false, json = false } = values;
    const { rewindCommand } = await import("../sessions/rewind-command.ts");
    return rewindCommand(id, { to, files, conversation, force, undo, json });
  },
};
