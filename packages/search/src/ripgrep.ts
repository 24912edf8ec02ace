/** Runs ripgrep and hands out what it prints, record by record. */
import { spawn } from "node:child_process";
import { type Failure, failure } from "@lathe/protocol";

export interface Run {
  /** The program; resolved when first needed. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** What ends a record. */
  readonly separator: "\n" | "\0";
  readonly signal: AbortSignal;
  /** *Contract:* false when enough has been seen: ripgrep is then ended. */
  readonly record: (text: string) => boolean;
}

export interface Ended {
  /** Absent when it was ended by us. */
  readonly code?: number;
  readonly errors: string;
}

const maxErrors = 4_000;

let resolved: string | undefined;

/** The bundled binary. Loaded when first needed: the package throws where its platform's binary is not installed. */
export async function bundledRipgrep(): Promise<string | Failure> {
  try {
    resolved ??= (await import("@vscode/ripgrep")).rgPath;
    return resolved;
  } catch (error) {
    const name = `@vscode/ripgrep-${process.platform}-${process.arch}`;
    return failure(
      "search-failed",
      `ripgrep is missing: install ${name}, or search with grep in the shell.`,
      {
        who: "host",
        cause: error,
      },
    );
  }
}

/** Resolves when ripgrep has ended; a failure only when it could not be started or the signal aborted. */
export function runRipgrep(run: Run): Promise<Ended | Failure> {
  const { promise, resolve } = Promise.withResolvers<Ended | Failure>();
  if (run.signal.aborted) return Promise.resolve(cancelled());
  const child = spawn(run.program, run.args, { cwd: run.cwd, stdio: ["ignore", "pipe", "pipe"] });
  let rest: Buffer[] = [];
  let errors = "";
  let enough = false;
  const abort = (): boolean => child.kill("SIGKILL");
  run.signal.addEventListener("abort", abort, { once: true });
  child.stdout.on("data", (chunk: Buffer) => {
    if (enough) return;
    const end = chunk.lastIndexOf(run.separator);
    if (end < 0) {
      rest.push(chunk);
      return;
    }
    const text = Buffer.concat([...rest, chunk.subarray(0, end)]).toString("utf8");
    rest = [chunk.subarray(end + 1)];
    enough = !text.split(run.separator).every(run.record);
    if (enough) child.kill("SIGKILL");
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(0, maxErrors);
  });
  child.on("error", (error) => {
    resolve(
      failure("search-failed", `ripgrep could not be started: ${error.message}.`, {
        who: "host",
        cause: error,
      }),
    );
  });
  child.on("close", (code) => {
    run.signal.removeEventListener("abort", abort);
    if (run.signal.aborted) resolve(cancelled());
    else resolve(code === null || enough ? { errors } : { code, errors });
  });
  return promise;
}

function cancelled(): Failure {
  return failure("cancelled", "The search was stopped.");
}
