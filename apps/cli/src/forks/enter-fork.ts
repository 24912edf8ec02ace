/** Runs this command again inside a fork, where the fork replaces the folder. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { type Fork, openForks } from "@lathe/hosts/attempts";
import { type Failure, failure, isFailure } from "@lathe/protocol";

/** Shares its streams. Resolves with its exit code. */
export async function enterFork(fork: Fork, args: readonly string[]): Promise<number | Failure> {
  const [, script = ""] = process.argv;
  const program = [process.execPath, ...process.execArgv, script, ...args];
  const words = await (await openForks(process.env)).entering(fork, { program });
  if (isFailure(words)) return words;
  const [file, ...rest] = words;
  const env = { ...process.env, LATHE_FORK: fork.id };
  const child = spawn(file, rest, { stdio: "inherit", env });
  // The terminal sends SIGINT to both processes; the other signals reach only this one.
  const ignore = (): void => undefined;
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on("SIGINT", ignore);
  for (const signal of passed) process.on(signal, passOn);
  try {
    return await new Promise((resolve) => {
      child.once("error", (cause) =>
        resolve(failure("sandbox-unavailable", `the fork could not be entered: ${cause.message}`, { cause })),
      );
      child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? "SIGKILL"]));
    });
  } finally {
    process.off("SIGINT", ignore);
    for (const signal of passed) process.off(signal, passOn);
  }
}

const passed = ["SIGTERM", "SIGHUP"] as const;
