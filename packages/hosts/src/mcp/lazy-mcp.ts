/** Lazy MCP: what servers offered when they were last asked is read from a file; they and their protocol are loaded by the first call. */
import { readFileSync } from "node:fs";
import type { LoginStore, ServerSpec } from "@lathe/mcp";
import type { Failure, McpServers, McpTool } from "@lathe/protocol";
import { writeWhole } from "@lathe/system/write-whole";
import type { LocalOptions } from "../local-options.ts";
import { ownPlace } from "./mcp-own-place.ts";

export interface McpOptions extends Pick<LocalOptions, "cwd" | "env" | "version"> {
  readonly mcpServers: Readonly<Record<string, ServerSpec>>;
}

export function createLazyMcp({ mcpServers, cwd, env, version }: McpOptions): McpServers {
  let opened: Promise<McpServers> | undefined;
  const fileOf = (server: string): string | undefined => {
    const spec = Object.hasOwn(mcpServers, server) ? mcpServers[server] : undefined;
    return spec && `${ownPlace(env, server, spec)}.json`;
  };
  const recalled = new Map<string, readonly McpTool[] | undefined>();
  const recall = (server: string): readonly McpTool[] | undefined => {
    if (!recalled.has(server)) recalled.set(server, readTools(fileOf(server)));
    return recalled.get(server);
  };
  const remember = (server: string, tools: readonly McpTool[]): void => {
    recalled.set(server, tools);
    writeTools(fileOf(server), tools);
  };
  const open = (): Promise<McpServers> =>
    (opened ??= Promise.all([import("@lathe/mcp"), import("./mcp-place.ts"), import("./mcp-login.ts")]).then(
      ([{ openServers }, { placeOfServer }, { loginStore }]) => {
        const placeOf = (name: string, spec: ServerSpec): string | Failure =>
          placeOfServer({ name, spec, folder: ownPlace(env, name, spec) }, { cwd, env });
        const loginOf = (server: string): LoginStore | undefined => loginStore({ mcpServers, env }, server);
        return openServers({ servers: mcpServers, placeOf, env, version, recall, remember, loginOf });
      },
    ));
  return {
    names: Object.keys(mcpServers),
    known: recall,
    list: async (server, signal) => (await open()).list(server, signal),
    call: async (call, signal) => (await open()).call(call, signal),
    close: async () => (await opened)?.close(),
  };
}

const version = 1;

/** Undefined where nothing was kept, or by a Lathe that wrote it in another way. */
function readTools(file: string | undefined): readonly McpTool[] | undefined {
  if (file === undefined) return undefined;
  try {
    const kept = JSON.parse(readFileSync(file, "utf8"));
    return kept.v === version && Array.isArray(kept.tools) ? kept.tools : undefined;
  } catch {
    return undefined;
  }
}

/** Only spares the next session a question. */
function writeTools(file: string | undefined, tools: readonly McpTool[]): void {
  if (file === undefined) return;
  try {
    writeWhole(file, JSON.stringify({ v: version, tools }));
  } catch {
    // The next session asks again.
  }
}
