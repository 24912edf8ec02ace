/** `lathe rpc`: sessions for a program in any language, over standard input and output. */
import { type Failure, isFailure } from "@lathe/protocol";
import type { Command } from "../command.ts";
import { readFlags } from "../flags.ts";
import { interruptions } from "../interruptions.ts";
import { usage } from "../run-options.ts";
import { problemLine } from "../show-failure.ts";

const flags = { debug: { type: "boolean", about: "more about what went wrong" } } as const;

export const rpcCommand: Command = {
  name: "rpc",
  about: "Serves a program over standard input and output (JSON-RPC 2.0, one message a line).",
  usage: ["rpc"],
  flags,
  notes: `The program asks: initialize, session/new, session/load, session/prompt, session/cancel, session/close, \
session/list; it is told session/event, session/delta and session/remark, and asked session/question.
\`lathe schema rpc\` prints the schema of all of it. It ends when its input does.`,
  run,
};

/** What waits on standard output would hold the process until somebody reads it. */
async function endNow(why: string): Promise<never> {
  await new Promise((resolve) => process.stderr.write(problemLine(why), resolve));
  process.exit(1);
}

function notRead(bytes: number): string {
  const what = `${(bytes / 2 ** 20).toFixed(0)} MiB wait to be read on standard output`;
  return `${what}: the program does not read what it is told; every session was ended`;
}

async function run(argv: readonly string[]): Promise<number | Failure> {
  const line = readFlags(argv, flags);
  if (isFailure(line)) return line;
  if (line.words.length > 0) return usage(`lathe rpc takes no words: ${line.words.join(" ")}`);
  const [{ serveRpc }, { boundedWriter }, { mostBytes }] = await Promise.all([
    import("../rpc/serve-rpc.ts"),
    import("../rpc/bounded-writer.ts"),
    import("../rpc/rpc-peer.ts"),
  ]);
  let unread: string | undefined;
  const output = boundedWriter(process.stdout, mostBytes, (bytes) => {
    unread = notRead(bytes);
    void cancel();
  });
  const { served, close } = serveRpc(process.stdin, output);
  const cancel = async (): Promise<undefined> => {
    await close();
    process.stdin.destroy();
  };
  const watch = interruptions({ cancel, close });
  await served;
  watch.stop();
  if (unread !== undefined) await endNow(unread);
  return watch.code() ?? 0;
}
