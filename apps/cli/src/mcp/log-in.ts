/** `lathe mcp login` and `logout`: manage a person's login at an HTTP server. */

import { usage } from "@lathe/config";
import { logInAt, logOutAt } from "@lathe/hosts/tools";
import { type Failure, isFailure } from "@lathe/protocol";
import { harmless } from "@lathe/terminal";
import { interruptions } from "../run/interruptions.ts";
import { agentOptions } from "../run/run-options.ts";
import type { McpLine } from "./mcp-line.ts";

export async function logInCommand({ words, values }: McpLine): Promise<number | Failure> {
  const [, name, ...more] = words;
  if (name === undefined || more.length > 0) return usage("name one server: `lathe mcp login NAME`");
  const options = await agentOptions({ cwd: values.cwd });
  if (isFailure(options)) return options;
  const stop = new AbortController();
  const cancel = async (): Promise<undefined> => void stop.abort();
  const watch = interruptions({ cancel, close: cancel });
  const show = (address: string): void => {
    process.stdout.write(
      `Log in to ${harmless(name)} with your browser, on this machine:\n\n${harmless(address)}\n\n`,
    );
  };
  const { mcpServers = {} } = options;
  const refused = await logInAt({ ...options, mcpServers, name, show, signal: stop.signal });
  watch.stop();
  if (refused) return watch.code() ?? refused;
  process.stdout.write(`logged in to ${harmless(name)}\n`);
  return 0;
}

export async function logOutCommand({ words, values }: McpLine): Promise<number | Failure> {
  const [, name, ...more] = words;
  if (name === undefined || more.length > 0) return usage("name one server: `lathe mcp logout NAME`");
  const options = await agentOptions({ cwd: values.cwd });
  if (isFailure(options)) return options;
  const { mcpServers = {} } = options;
  const was = logOutAt({ ...options, mcpServers, name });
  if (isFailure(was)) return was;
  process.stdout.write(was ? `logged out of ${name}\n` : `there was no login to ${name}\n`);
  return 0;
}
