/** `/mcp`: lists the MCP servers and their tools. */
import { fit } from "@lathe/terminal";
import type { SharedCommand } from "./command-context.ts";

export const mcpCommand: SharedCommand = {
  name: "mcp",
  about: "the servers whose tools the agent may call; `lathe mcp list` tries them",
  run: async (chat) => {
    const servers = Object.entries(chat.conversation.options.mcpServers ?? {});
    if (servers.length === 0) return ["", "No server is set up: `lathe mcp add NAME -- COMMAND` adds one."];
    const width = Math.max(...servers.map(([name]) => name.length));
    const { serverText } = await import("@lathe/config/server-text");
    const lines = servers.map(([name]) => {
      // Shows the server as written in its file: the filled-in one may contain the user's keys.
      const written = chat.conversation.options.writtenServers?.[name];
      const where = fit(written ? serverText(written) : "", chat.width - width - 4);
      return `  ${name.padEnd(width)}  ${where}`;
    });
    return ["", ...lines];
  },
};
