/** `/mcp`: the servers of other programs' tools. */
import { fit, harmless } from "../../render/fit.ts";
import type { SharedCommand } from "./slash-command.ts";

export const mcpCommand: SharedCommand = {
  name: "mcp",
  about: "the servers whose tools the agent may call; `lathe mcp list` tries them",
  run: async (chat) => {
    const servers = Object.entries(chat.options.mcpServers ?? {});
    if (servers.length === 0) return ["", "No server is set up: `lathe mcp add NAME -- COMMAND` adds one."];
    const width = Math.max(...servers.map(([name]) => name.length));
    const lines = servers.map(([name, server]) => {
      const where = "url" in server ? server.url : [server.command, ...(server.args ?? [])].join(" ");
      return fit(harmless(`  ${name.padEnd(width)}  ${where}`), chat.width);
    });
    return ["", ...lines];
  },
};
