/** `lathe sandbox exec`: runs one command in the sandbox, and passes its streams and exit code through. */
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxLimitsChoice } from "@lathe/hosts/local";
import { openLoneSandbox } from "@lathe/hosts/tools";
import { type Exit, type ForkLayers, isFailure, type Process, quoteWord } from "@lathe/protocol";
import { problemLine } from "../command-line/show-failure.ts";
import { interruptions } from "../run/interruptions.ts";

export interface ExecOptions {
  readonly cwd: string;
  /** Real paths outside the folder that the command may write. */
  readonly writable: readonly string[];
  /** Hosts that the command may reach, written as in rules. */
  readonly hosts: readonly string[];
  /** Limits on the machine's resources. */
  readonly sandboxLimits: SandboxLimitsChoice;
  /**
   * Runs on a fork of the folder; `keep` applies its changes if the command succeeds, otherwise they stay
   * pending.
   */
  readonly fork?: { readonly keep: boolean };
}

/** The exit code if the sandbox did not start and nothing ran. */
const notStarted = 125;
const lookMs = 10;
const chunkBytes = 256 * 1024;

export async function exec(words: readonly string[], options: ExecOptions): Promise<number> {
  if (!options.fork) return execIn(words, options);
  const { openForks } = await import("@lathe/hosts/attempts");
  const { settleFork } = await import("../forks/settle-fork.ts");
  const fork = await (await openForks(process.env)).open({ cwd: options.cwd, about: words.join(" ") });
  if (isFailure(fork)) return refused(fork.text);
  const code = await execIn(words, options, fork);
  const settled = await settleFork(fork, { code, keep: options.fork.keep, canAsk: false });
  return code === 0 ? settled : code;
}

async function execIn(
  words: readonly string[],
  { cwd, writable, fork: _, ...place }: ExecOptions,
  fork?: ForkLayers,
): Promise<number> {
  const lone = await openLoneSandbox({ ...place, cwd, env: process.env, ...(fork && { fork }) });
  if (isFailure(lone)) return refused(lone.text);
  if (lone.remark !== undefined) process.stderr.write(problemLine(lone.remark));
  const watch = interruptions({ cancel: async () => void lone.close(), close: () => lone.close() });
  try {
    const grants = writable.map((target) => ({ kind: "write", target }) as const);
    const script = words.length === 1 ? (words[0] ?? "") : words.map(quoteWord).join(" ");
    const command = await lone.sandbox.spawn({ script, cwd, apart: true, grants });
    if (isFailure(command)) return refused(`${command.text}${command.cause ? ` (${command.cause})` : ""}`);
    feed(command);
    const code = await ended(command);
    return watch.code() ?? code;
  } finally {
    await lone.close();
    watch.stop();
  }
}

const flagOf: Readonly<Record<string, string>> = { write: "--writable", network: "--allow-host" };

async function ended(command: Process): Promise<number> {
  const [passed] = await Promise.all([passOn(command, "output"), passOn(command, "errors")]);
  const { total } = await command.read(passed, 0);
  if (passed < total) return refused(`the disk is full: ${total - passed} bytes of output are lost`);
  const exit = await command.exited;
  if (exit.failure) return refused(exit.failure.text);
  for (const { kind, target } of exit.denied ?? []) {
    const hint = flagOf[kind] === undefined ? "" : `; ${flagOf[kind]} ${target} allows it`;
    process.stderr.write(problemLine(`the sandbox blocked ${kind} ${target}${hint}`));
  }
  if (exit.outOfMemory) process.stderr.write(problemLine(memoryText(exit)));
  return codeOf(exit);
}

function memoryText({ memoryLimitBytes }: Exit): string {
  const had = memoryLimitBytes === undefined ? "" : `: it may have ${gibibytes(memoryLimitBytes)}`;
  return `the command ran out of memory${had}; --memory SIZE allows more`;
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

function refused(text: string): number {
  process.stderr.write(problemLine(text));
  return notStarted;
}

/** Passes the input to the command until the command ends. */
function feed(command: Process): void {
  const { stdin } = process;
  const give = async (): Promise<void> => {
    for await (const chunk of stdin) if (isFailure(await command.write(chunk))) return;
    await command.closeInput();
  };
  // A command that ends stops the reading, since its input may never end.
  void give().catch(() => command.closeInput());
  void command.exited.then(() => stdin.destroy());
}

/** Resolves with the number of bytes passed on. */
async function passOn(command: Process, stream: "output" | "errors"): Promise<number> {
  const to = stream === "output" ? process.stdout : process.stderr;
  let at = 0;
  for (;;) {
    const hasEnded = command.exit !== undefined;
    const bytes = await command.bytes(stream, at, chunkBytes);
    at += bytes.length;
    if (bytes.length > 0 && !to.write(bytes)) await new Promise((resolve) => to.once("drain", resolve));
    if (bytes.length > 0) continue;
    if (hasEnded) return at;
    await Promise.race([command.exited, sleep(lookMs)]);
  }
}

function codeOf({ code, signal }: Exit): number {
  if (code !== undefined) return code;
  return 128 + (Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0);
}
