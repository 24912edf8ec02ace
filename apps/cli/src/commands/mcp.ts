/** `lathe mcp`: manages MCP servers for the agent, and serves the agent's tools to other programs. */

import { agentFlags, allowNotes, readFlags, usage } from "@lathe/config";
import { type Failure, isFailure } from "@lathe/protocol";
import type { Command } from "../command-line/command.ts";

const flags = {
  json: { type: "boolean", about: "list: as JSON" },
  yes: { type: "boolean", about: "trust: do not ask" },
  env: {
    type: "string",
    multiple: true,
    value: "NAME=VALUE",
    about: "add: an environment variable for the server (repeatable)",
  },
  header: {
    type: "string",
    multiple: true,
    value: "NAME=VALUE",
    about: "add: a header for its requests (repeatable)",
  },
  "permission-mode": agentFlags["permission-mode"],
  allow: agentFlags.allow,
  cwd: agentFlags.cwd,
  "no-sandbox": agentFlags["no-sandbox"],
  debug: agentFlags.debug,
} as const;

export const mcpCommand: Command = {
  name: "mcp",
  about: "Manage MCP servers, whose tools the agent can use; or serve Lathe's own tools.",
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
  notes: `list starts each server, asks what it offers, and ends it. add and remove change "mcpServers" in your own \
configuration. A value may name a variable: --env 'TOKEN=\${MY_TOKEN}'. A server gets no other key of yours.
Your own servers start in an empty folder unless "cwd" is set, a project's in the workspace. trust shows what the \
project's .mcp.json would start, and which of your own servers run files of this folder. After your approval they may \
start until one of these files changes.
login is for a server with a URL that needs OAuth. It prints an address to open in your browser on this machine. The \
tokens are stored in your state folder, readable by you alone, and refreshed. logout deletes them.
serve offers grep, find_files, list, read, edits and the sandboxed shell over standard input and output. It refuses \
what would need an approval.
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
