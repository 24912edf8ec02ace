/** `lathe rpc`: sessions for a program in any language, over standard input and output. */
import { type Failure, isFailure } from "@lathe/protocol";
import type { Command } from "../command.ts";
import { readFlags } from "../flags.ts";
import { interruptions } from "../interruptions.ts";
import { usage } from "../run-options.ts";

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

function notRead(bytes: number): Failure {
  const what = `${(bytes / 2 ** 20).toFixed(0)} MiB wait to be read on standard output`;
  return usage(`${what}: the program does not read what it is told; every session was ended`);
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
  let unread: Failure | undefined;
  const { write } = boundedWriter(process.stdout, mostBytes, (bytes) => {
    unread = notRead(bytes);
    void cancel();
  });
  const { served, close } = serveRpc(process.stdin, write);
  const cancel = async (): Promise<undefined> => {
    await close();
    process.stdin.destroy();
  };
  const watch = interruptions({ cancel, close });
  await served;
  watch.stop();
  // What waits would hold the process until somebody reads it.
  if (unread) process.stdout.destroy();
  return watch.code() ?? unread ?? 0;
}
