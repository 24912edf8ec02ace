/** A server in one line: what is started, or what is asked. */
import type { Servers } from "../config/mcp-servers.ts";
import { harmless } from "../render/fit.ts";

/** Without the values of variables and headers, which may be keys. */
export function serverText(server: Servers[string]): string {
  if ("url" in server) {
    const names = Object.keys(server.headers ?? {});
    return harmless(names.length > 0 ? `${server.url} (headers ${names.join(", ")})` : server.url);
  }
  const names = Object.keys(server.env ?? {}).map((name) => `${name}=...`);
  return harmless([...names, server.command, ...(server.args ?? [])].join(" "));
}
