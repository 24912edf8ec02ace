/** Describes a server in one line: the command to start, or its address. */

import { harmless } from "@lathe/terminal";
import { type Servers, variablesIn } from "./mcp-servers.ts";

/**
 * Leaves out the values of variables and headers, which may be keys. *Contract:* takes the written server,
 * not a filled-in one.
 */
export function serverText(server: Servers[string]): string {
  if ("url" in server) {
    const names = Object.keys(server.headers ?? {});
    return harmless(names.length > 0 ? `${server.url} (headers ${names.join(", ")})` : server.url);
  }
  const names = Object.keys(server.env ?? {}).map((name) => `${name}=...`);
  return harmless([...names, server.command, ...(server.args ?? [])].join(" "));
}

/** Shows a project's server in full: it contains no secret of the user, and any part may be an attack. */
export function writtenText(server: Servers[string]): readonly string[] {
  const { url, headers, command, args, env, cwd } = server as Whole;
  const pairs = (of: Readonly<Record<string, string>> = {}): readonly string[] =>
    Object.entries(of).map(([name, value]) => `${name}=${word(value)}`);
  const variables = variablesIn(server);
  const lines =
    url === undefined
      ? [[...pairs(env), ...[command ?? "", ...(args ?? [])].map(word)].join(" ")]
      : [url, ...pairs(headers).map((pair) => `header ${pair}`)];
  return [
    ...lines,
    ...(cwd === undefined ? [] : [`works in ${word(cwd)}`]),
    ...(variables.length === 0 ? [] : [`is given your variables ${variables.join(", ")}`]),
  ].map((line) => harmless(line).replaceAll("\n", " "));
}

interface Whole {
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Quotes text that would not read as one word. */
function word(text: string): string {
  return /^[\w@%+=:,./${}~-]+$/u.test(text) ? text : JSON.stringify(text);
}
