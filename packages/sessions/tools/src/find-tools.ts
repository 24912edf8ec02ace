/** `find_tools`: searches the tools of MCP servers, so that not every request has to list all of them. */
import {
  type Failure,
  isFailure,
  type McpServers,
  type McpTool,
  type Tool,
  type ToolIdentity,
} from "@lathe/protocol";
import * as v from "valibot";
import { defineTool, failed, ok } from "./define-tool.ts";
import { mcpName } from "./mcp-name.ts";
import { count, text } from "./schema.ts";

/** The protocol's own name for listing a server's tools; no tool may have it. */
export const listing = "tools/list";
const defaultLimit = 5;
const maxLimit = 20;

interface Found {
  readonly server: string;
  readonly tool: McpTool;
  readonly score: number;
}

export const findToolsIdentity: ToolIdentity = { name: "find_tools" };

export function createFindTools(searched: readonly string[], servers: McpServers): Tool {
  return defineTool({
    ...findToolsIdentity,
    description: `Find more tools by words, to be called with call_tool. They come from: ${searched.join(", ")}.`,
    schema: { query: text(), limit: v.optional(count()) },
    // Tools of a known server need no start; an unknown server would be started and asked with this method.
    effects: () =>
      searched
        .filter((server) => servers.known(server) === undefined)
        .map((server) => ({ kind: "mcp", target: `${server}/${listing}` })),
    async run({ query, limit = defaultLimit }, { signal }) {
      const asked = await Promise.all(
        searched.map(async (server) => {
          return { server, tools: servers.known(server) ?? (await servers.list(server, signal)) };
        }),
      );
      const silent = asked.flatMap(({ tools }) => (isFailure(tools) ? [tools] : []));
      const all = asked.flatMap(({ server, tools }) =>
        isFailure(tools) ? [] : scored(server, tools, query),
      );
      if (all.length === 0 && silent[0]) return failed(silent[0]);
      const best = all
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score)
        .slice(0, Math.min(Math.max(1, limit), maxLimit));
      return ok([...shown(best, all), ...silent.map(noted)].join("\n\n"));
    },
  });
}

function noted({ text: said }: Failure): string {
  return `[${said}]`;
}

function shown(best: readonly Found[], all: readonly Found[]): readonly string[] {
  if (best.length > 0) return best.map(described);
  const names = all.slice(0, 50).map(({ server, tool }) => mcpName(server, tool.name));
  return [
    `Nothing matches. There are ${all.length}: ${names.join(", ")}${all.length > names.length ? ", ..." : ""}`,
  ];
}

function described({ server, tool }: Found): string {
  return `${mcpName(server, tool.name)}: ${tool.description}\narguments: ${JSON.stringify(tool.parameters)}`;
}

function scored(server: string, tools: readonly McpTool[], query: string): readonly Found[] {
  const words = wordsOf(query);
  return tools.map((tool) => {
    const name = wordsOf(`${server} ${tool.name}`);
    const about = wordsOf(tool.description);
    const score = words.reduce((sum, word) => sum + 3 * hits(word, name) + hits(word, about), 0);
    return { server, tool, score };
  });
}

/** Words with the same beginning count half: `issue` finds `issues`. */
function hits(word: string, words: readonly string[]): number {
  if (words.includes(word)) return 1;
  return words.some((one) => one.startsWith(word) || (one.length > 3 && word.startsWith(one))) ? 0.5 : 0;
}

/** `createIssue` and `create_issue` are two words each. */
function wordsOf(said: string): readonly string[] {
  return said
    .replace(/([a-z\d])([A-Z])/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
