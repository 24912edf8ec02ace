/** Reads piped input, without waiting forever for a pipe that sends nothing. */
import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import { type Failure, failure } from "@lathe/protocol";
import { problemLine } from "../command-line/show-failure.ts";

/** How long the first byte may take. */
const patienceMs = { hasty: 3000, patient: 10_000, "to-the-end": undefined } as const;
/** No model accepts more. */
const maxBytes = 10_000_000;

export type Patience = keyof typeof patienceMs;

/** The text on standard input; empty unless it is a pipe or a file. */
export async function readPipe(patience: Patience): Promise<string | Failure> {
  // Waits for a terminal only if the caller wants input to its end; other devices send nothing.
  const worth = patience === "to-the-end" || isPipeOrFile();
  return worth ? readInput(process.stdin, patienceMs[patience]) : "";
}

/** Node gives its children sockets instead of pipes. A closed descriptor is neither. */
function isPipeOrFile(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isSocket() || stat.isFile();
  } catch {
    return false;
  }
}

/** Reads to the end; returns an empty text with a notice on stderr if nothing arrives in time. */
export async function readInput(input: Readable, waitMs: number | undefined): Promise<string | Failure> {
  let late = false;
  const giveUp = (): void => {
    late = true;
    input.destroy();
  };
  const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of input) {
      clearTimeout(timer);
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > maxBytes) return tooMuch();
    }
  } catch (cause) {
    if (!late) return failure("no-access", "the piped input cannot be read", { who: "user", cause });
  }
  clearTimeout(timer);
  if (late) process.stderr.write(problemLine(lateText(waitMs)));
  return Buffer.concat(chunks).toString("utf8");
}

function lateText(waitMs = 0): string {
  return `nothing came through the pipe for ${waitMs / 1000} s, so it is left out; a last word - waits for it`;
}

function tooMuch(): Failure {
  const text = `more than ${maxBytes / 1e6} MB came through the pipe; save it to a file and name the file in the task`;
  return failure("invalid-arguments", text, { who: "user" });
}
