/** Output of a process: read in parts, shown live, and remembered how far it has been looked at. */
import { basename } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Effect, Exit, Process, ToolContext } from "@lathe/protocol";
import type { RedactionStream } from "@lathe/protocol/secrets/stream";
import { withoutBinary } from "./without-binary.ts";
import { withoutOverwritten } from "./without-overwritten.ts";

/** Bytes of the start and of the end that are kept of an enormous output. */
const keptBytes = 8 * 1024 * 1024;
const chunkBytes = 64 * 1024;
const pollMs = 100;

/** Output from byte `from` on: all of it, or its two ends when it is enormous; binary output is counted. */
export async function outputFrom(
  process: Process,
  from: number,
): Promise<{ readonly text: string; readonly total: number }> {
  const first = await process.read(from, keptBytes);
  if (first.next >= first.total || first.next === from)
    return { text: shownOf(first.text), total: first.total };
  const start = Math.max(first.next, first.total - keptBytes);
  const last = await process.read(start, first.total - start);
  const gap = start > first.next ? `\n[... ${start - first.next} bytes not kept ...]\n` : "";
  return { text: shownOf(first.text + gap + last.text), total: last.total };
}

/** What a person would see of it, without colours: they say nothing to a model. `cat -v` shows what was there. */
function shownOf(output: string): string {
  return withoutBinary(withoutOverwritten(stripVTControlCharacters(output)));
}

/**
 * Shows output as it comes, a line once it is whole or nothing follows it for now; the first look is after 100 ms, so a quick command costs nothing.
 * Returns the way to stop, with a last look.
 */
export function follow(process: Process, from: number, context: ToolContext): () => Promise<void> {
  let at = from;
  let torn = false;
  let stopped = false;
  let clean: RedactionStream | undefined;
  const show = (text: string): void => {
    if (text !== "") context.delta({ type: "output", text });
  };
  const look = async (isLast: boolean): Promise<void> => {
    const { text, next, total } = await process.read(at, chunkBytes);
    clean ??= await context.redaction();
    if (stopped && !isLast) return;
    show(clean.write(torn ? text.slice(text.indexOf("\n") + 1) : text));
    // Whoever is asked something sees the question, which ends no line.
    if (text === "") show(clean.rest());
    // Who watches wants to see the latest; what a flood leaves out is in the result.
    at = Math.max(next, total - chunkBytes);
    torn = at > next;
    // Where something is left out half a line may be half a key.
    if (torn) clean.flush();
    if (isLast) show(clean.flush());
    else timer = setTimeout(look, pollMs, false);
  };
  let timer = setTimeout(look, pollMs, false);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    if (clean) await look(true);
  };
}

/** Waits for the end of a process, at most `ms`. */
export async function ending(
  process: Process,
  ms: number,
  signal: AbortSignal,
): Promise<"exited" | "elapsed" | "aborted"> {
  if (process.exit) return "exited";
  if (signal.aborted) return "aborted";
  const { promise, resolve } = Promise.withResolvers<"elapsed" | "aborted">();
  const timer = setTimeout(resolve, ms, "elapsed");
  const abort = (): void => resolve("aborted");
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([process.exited.then(() => "exited" as const), promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** Bytes of a background process that the model has seen; a process that is not here was never handed over. */
const seen = new WeakMap<Process, number>();

export function seenOf(process: Process): number | undefined {
  return seen.get(process);
}

export function markSeen(process: Process, bytes: number): void {
  seen.set(process, bytes);
}

/** Those whose end the model knows. */
const told = new WeakSet<Process>();

export function isTold(process: Process): boolean {
  return told.has(process);
}

export function markTold(process: Process): void {
  told.add(process);
}

/** Those that the user has stopped: the model is not to look for why they ended. */
const stopped = new WeakSet<Process>();

export function markStopped(process: Process): void {
  stopped.add(process);
}

export function isStopped(process: Process): boolean {
  return stopped.has(process);
}

/** What a command that failed was kept from by the sandbox. */
export function deniedOf({ exit }: Process): readonly Effect[] {
  return exit?.code === undefined || exit.code === 0 ? [] : (exit.denied ?? []);
}

/** The model is told what the sandbox did, so that it does not look for a mistake of its own. */
export function deniedText(denied: readonly Effect[]): string {
  if (denied.length === 0) return "";
  return `[kept from it by the sandbox: ${denied.map(({ kind, target }) => `${kind} ${target}`).join(", ")}]`;
}

const held = /read-only file system|resource busy|\bE(?:ROFS|BUSY)\b/iu;

/** Said where a command ran into what a person refused, so that nobody looks for a mistake, or for another way. */
export function sealedText({ exit, command: { sealed = [] } }: Process, output: string): string {
  const names = [...new Set(sealed.map((path) => basename(path)))];
  const isHeld = held.test(output);
  const isNamed = exit?.code !== 0 && names.some((name) => output.includes(name));
  if (names.length === 0 || (!isHeld && !isNamed)) return "";
  return `[${names.join(", ")}: the user refused to have this deleted or changed, so commands cannot]`;
}

/** How a process ended, for the end of its output: "" when it simply succeeded. */
export function endText(process: Process): string {
  const { exit } = process;
  if (!exit) return "";
  if (stopped.has(process)) return "[stopped by the user]";
  const notes = [exit.outOfMemory && memoryText(exit), ...(exit.takenBack ?? []).map(takenBackText)];
  return [codeText(exit), ...notes.filter((note) => note).map((note) => `[${note}]`)]
    .filter(Boolean)
    .join(" ");
}

function codeText({ code, signal, failure }: Exit): string {
  if (failure) return `[${failure.text}]`;
  if (signal !== undefined) return `[ended by ${signal}]`;
  return code === 0 ? "" : `[exit code ${code}]`;
}

/** Says what a person can do: no command raises it. */
function memoryText({ memoryLimitBytes }: Exit): string {
  const had =
    memoryLimitBytes === undefined
      ? ""
      : `: commands may have ${(memoryLimitBytes / 2 ** 30).toFixed(1)} GiB`;
  return `out of memory${had}; the user can raise it with "sandboxLimits": {"memory": "SIZE"} in their own configuration of Lathe`;
}

function takenBackText(name: string): string {
  return `${name} was taken back: programs outside the sandbox would obey it`;
}

/** Output with a line of ours after it. */
export function withNote(output: string, note: string): string {
  if (output === "" || note === "") return output + note;
  return output.endsWith("\n") ? output + note : `${output}\n${note}`;
}
