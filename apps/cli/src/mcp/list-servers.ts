/** `lathe mcp list`: what each server offers, asked now. */
import { createLazyMcp } from "@lathe/hosts/lazy-mcp";
import { type Failure, isFailure, type McpTool } from "@lathe/protocol";
import { fit, harmless } from "../render/fit.ts";
import { paletteFor } from "../render/palette.ts";
import { table } from "../render/table.ts";
import { interruptions } from "../run/interruptions.ts";
import { agentOptions, usage } from "../run/run-options.ts";
import type { McpLine } from "./mcp-line.ts";
import { serverText } from "./server-text.ts";

interface Asked {
  readonly name: string;
  readonly tools: readonly McpTool[] | Failure;
}

export async function listServers({ words, values }: McpLine): Promise<number | Failure> {
  if (words.length > 1) return usage("`lathe mcp list` takes no names");
  const options = await agentOptions({ cwd: values.cwd });
  if (isFailure(options)) return options;
  const { mcpServers = {}, writtenServers = {} } = options;
  const servers = createLazyMcp({ ...options, mcpServers });
  const stop = new AbortController();
  const cancel = async (): Promise<undefined> => void stop.abort();
  const watch = interruptions({ cancel, close: () => servers.close() });
  try {
    const asked = await Promise.all(
      servers.names.map(async (name) => ({ name, tools: await servers.list(name, stop.signal) })),
    );
    process.stdout.write(values.json ? asJson(asked) : asText(asked, writtenServers));
    return watch.code() ?? (asked.some(({ tools }) => isFailure(tools)) ? 1 : 0);
  } finally {
    await servers.close();
    watch.stop();
  }
}

function asJson(asked: readonly Asked[]): string {
  const rows = asked.map(({ name, tools }) =>
    isFailure(tools) ? { name, failure: tools } : { name, tools },
  );
  return `${JSON.stringify(rows, null, 2)}\n`;
}

const widest = 80;

function asText(
  asked: readonly Asked[],
  servers: NonNullable<Parameters<typeof createLazyMcp>[0]["mcpServers"]>,
): string {
  const paint = paletteFor(process.stdout, process.env);
  if (asked.length === 0) return "no MCP servers; `lathe mcp add NAME -- COMMAND` adds one\n";
  return asked
    .map(({ name, tools }) => {
      const spec = servers[name];
      const about = paint.dim(spec ? serverText(spec) : "");
      if (isFailure(tools))
        return `${paint.red("✗")} ${paint.bold(name)}  ${about}\n  ${harmless(tools.text)}\n`;
      const rows = tools.map((tool) => {
        const note = tool.readOnly ? paint.dim("reads  ") : "       ";
        return [
          "",
          fit(`${name}/${tool.name}`, widest),
          `${note}${fit(tool.description.replace(/\s+/g, " "), widest)}`,
        ];
      });
      return `${paint.green("✓")} ${paint.bold(name)}  ${about}\n${table(rows)}`;
    })
    .join("\n");
}
