/** `lathe mcp`: other programs' tools for the agent, and the agent's tools for other programs. */

import { agentFlags, allowNotes, readFlags, usage } from "@lathe/config";
import { type Failure, isFailure } from "@lathe/protocol";
import type { Command } from "../command-line/command.ts";

const flags = {
  json: { type: "boolean", about: "list: as JSON" },
  yes: { type: "boolean", about: "trust: without a question" },
  env: {
    type: "string",
    multiple: true,
    value: "NAME=VALUE",
    about: "add: a variable that the server gets (repeatable)",
  },
  header: {
    type: "string",
    multiple: true,
    value: "NAME=VALUE",
    about: "add: a header of its requests (repeatable)",
  },
  "permission-mode": agentFlags["permission-mode"],
  allow: agentFlags.allow,
  cwd: agentFlags.cwd,
  "no-sandbox": agentFlags["no-sandbox"],
  debug: agentFlags.debug,
} as const;

export const mcpCommand: Command = {
  name: "mcp",
  about: "Other programs' tools for the agent (Model Context Protocol), and the agent's tools for others.",
  usage: [
    "mcp list",
    "mcp add [--env NAME=VALUE] NAME -- COMMAND [ARGS]",
    "mcp add [--header NAME=VALUE] NAME URL",
    "mcp remove NAME",
    "mcp login NAME",
    "mcp logout NAME",
    "mcp trust [--yes]",
    "mcp serve [options]",
  ],
  words: "servers",
  flags,
  notes: `list starts each server, asks what it offers and ends it. add and remove change "mcpServers" in your own \
configuration; a value may be a variable of yours: --env 'TOKEN=\${MY_TOKEN}'. A server gets no other key of yours.
Your own servers start in an empty folder unless "cwd" says otherwise, a project's in the workspace. trust shows what \
the project's .mcp.json would start, and which of your own servers run files of this folder, asks, and allows it until \
that file or one that they may load changes.
login prints an address to open in your browser on this machine, for a server with a URL that wants OAuth; the tokens \
are kept in your state folder, for your eyes alone, and refreshed. logout forgets them.
serve offers grep, find_files, list, read, edits and the sandboxed shell over standard input and output; what policy \
does not allow unasked is refused there.
${allowNotes}`,
  run,
};

const commandsOwn = "an option of the server's own comes behind `--`: `lathe mcp add NAME -- COMMAND [ARGS]`";

async function run(argv: readonly string[]): Promise<number | Failure> {
  const line = readFlags(argv, flags);
  if (isFailure(line)) {
    const isCommands = argv[0] === "add" && !argv.includes("--");
    return isCommands ? { ...line, text: `${line.text}; ${commandsOwn}` } : line;
  }
  const [action] = line.words;
  switch (action) {
    case "list":
      return (await import("../mcp/list-servers.ts")).listServers(line);
    case "add":
      return (await import("../mcp/change-servers.ts")).addServer(line);
    case "remove":
      return (await import("../mcp/change-servers.ts")).removeServer(line);
    case "login":
      return (await import("../mcp/log-in.ts")).logInCommand(line);
    case "logout":
      return (await import("../mcp/log-in.ts")).logOutCommand(line);
    case "trust":
      return (await import("../mcp/trust-servers.ts")).trustServers(line);
    case "serve":
      return (await import("../mcp/serve-tools.ts")).serveTools(line);
    default:
      return usage("`lathe mcp` takes list, add, remove, login, logout, trust or serve");
  }
}
