/** MCP servers as they are written in configuration files: checked, and with the variables they name filled in. */
import type { LocalOptions } from "@lathe/hosts/local";
import { type Failure, failure } from "@lathe/protocol";
import * as v from "valibot";

export type Servers = NonNullable<LocalOptions["mcpServers"]>;

const timeoutMs = v.exactOptional(v.pipe(v.number(), v.minValue(1)));
const texts = v.record(v.string(), v.string());
const stdioEntries = {
  type: v.exactOptional(v.literal("stdio")),
  command: v.pipe(v.string(), v.nonEmpty("may not be empty")),
  args: v.exactOptional(v.array(v.string())),
  env: v.exactOptional(texts),
  cwd: v.exactOptional(v.string()),
  timeoutMs,
};
const httpEntries = {
  type: v.exactOptional(v.picklist(["http", "streamable-http"])),
  url: v.pipe(v.string(), v.regex(/^https?:\/\//, "an address that begins with http:// or https://")),
  headers: v.exactOptional(texts),
  timeoutMs,
};
/** Files of other agents say more of a server than we need to know. */
const server = v.union(
  [v.object(stdioEntries), v.object(httpEntries)],
  'a server has a "command", or a "url" that begins with http:// or https://',
);
const name = v.pipe(
  v.string(),
  v.regex(/^[\w.-]{1,40}$/, "a server's name is of letters, digits, dot, dash and underscore"),
);
export const mcpServers: v.GenericSchema<unknown, Servers> = v.pipe(
  v.record(name, server),
  v.transform((found) => found as Servers),
);

/** Those of a `.mcp.json`. */
export function readServers(path: string, text: string): Servers | Failure {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return refused(path, `it is not valid JSON: ${(cause as Error).message}`, cause);
  }
  const checked = v.safeParse(v.object({ mcpServers }), value);
  if (checked.success) return checked.output.mcpServers;
  const [issue] = checked.issues;
  return refused(path, `${v.getDotPath(issue) ?? "the whole file"}: ${issue.message}`);
}

function refused(path: string, why: string, cause?: unknown): Failure {
  return failure("config-invalid", `${path}: ${why}`, { who: "user", cause });
}

type Env = Readonly<Record<string, string | undefined>>;

const variable = /\$\{(\w+)(?::-([^}]*))?\}/g;

/** Names of the user's variables that it is given. */
export function variablesIn(server: Servers[string]): readonly string[] {
  const texts =
    "url" in server
      ? [server.url, ...Object.values(server.headers ?? {})]
      : [server.command, ...(server.args ?? []), ...Object.values(server.env ?? {})];
  return [...new Set(texts.flatMap((text) => [...text.matchAll(variable)].map(([, name = ""]) => name)))];
}

/** `${NAME}` and `${NAME:-default}` stand for variables of the user's own environment, so that no key needs to be written down. */
export function filledIn(servers: Servers, env: Env): Servers {
  const fill = (text: string): string =>
    text.replace(variable, (whole, name: string, otherwise?: string) => {
      return env[name] ?? otherwise ?? whole;
    });
  const all = (record: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, fill(value)]));
  const filled = Object.entries(servers).map(([key, one]): readonly [string, Servers[string]] => {
    if ("url" in one)
      return [key, { ...one, url: fill(one.url), ...(one.headers && { headers: all(one.headers) }) }];
    const { command, args, env: own } = one;
    return [
      key,
      {
        ...one,
        command: fill(command),
        ...(args && { args: args.map(fill) }),
        ...(own && { env: all(own) }),
      },
    ];
  });
  return Object.fromEntries(filled);
}
