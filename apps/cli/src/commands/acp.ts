/** `lathe acp`: serves the agent to an editor over standard input and output. */
import { Readable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { serveAcp } from "@lathe/acp";
import { agentFlags, allowNotes, readFlags, usage } from "@lathe/config";
import { type Failure, isFailure } from "@lathe/protocol";
import type { Command } from "../command-line/command.ts";
import { harnessVersion } from "../command-line/harness-version.ts";
import { endNow, readOutput } from "../output/unread.ts";
import { interruptions } from "../run/interruptions.ts";
import { agentOptions } from "../run/run-options.ts";

const { cwd: _, ...flags } = agentFlags;

export const acpCommand: Command = {
  name: "acp",
  about: "Serves an editor over standard input and output (Agent Client Protocol).",
  usage: ["acp [options]"],
  flags,
  notes: `An editor starts it and says in which folder each session works. Remarks go to standard error.
${allowNotes}`,
  run,
};

async function run(argv: readonly string[]): Promise<number | Failure> {
  const line = readFlags(argv, flags);
  if (isFailure(line)) return line;
  if (line.words.length > 0) return usage(`lathe acp takes no words: ${line.words.join(" ")}`);
  // Reports a wrong flag now, not with the first session.
  const options = await agentOptions(line.values);
  if (isFailure(options)) return options;
  const { unread, write, drained } = readOutput(() => void close());
  // Never waits: output that an editor does not read would queue up uncounted.
  const output = new WritableStream<Uint8Array>({ write });
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const connected = { stream: ndJsonStream(output, input), drained };
  const server = serveAcp(connected, {
    env: process.env,
    version: harnessVersion(),
    optionsOf: (cwd) => agentOptions({ ...line.values, cwd }),
  });
  const { close } = server;
  const watch = interruptions({ cancel: async () => void (await close()), close });
  await server.closed;
  watch.stop();
  const why = unread();
  if (why !== undefined) await endNow(why);
  return watch.code() ?? server.failed() ?? 0;
}
