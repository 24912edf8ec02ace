/** A process of ours that makes an attempt or runs its tests: told what to do, heard line by line, and asked to end. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type Failure, failure } from "@lathe/protocol";
import type { Order, Told } from "./orders.ts";
import type { Entrance } from "./place.ts";

export interface Child {
  /** *Contract:* resolves when it has ended and all it said was told; a failure when it ended without having come to its end. */
  readonly ended: Promise<Failure | undefined>;
  /** *Contract:* the work ends soon after and is remembered as interrupted; the second time at once. */
  interrupt(): void;
}

const maxComplaint = 2_000;

/** What it reads ends with us: then it tidies up and ends. */
export function startChild({ words, cwd, env }: Entrance, order: Order, onTold: (told: Told) => void): Child {
  const [file, ...args] = words;
  // The keyboard's signals are for us alone: whoever reads them says once what is to end.
  const child = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  child.stdin.on("error", () => undefined);
  child.stdin.write(`${JSON.stringify(order)}\n`);
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = (complaint + text).slice(-maxComplaint);
  });
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const told = readTold(line);
    if (told) onTold(told);
  });
  return {
    ended: endOf(child, () => complaint),
    interrupt: () => void child.kill("SIGINT"),
  };
}

function endOf(child: ChildProcess, complaint: () => string): Promise<Failure | undefined> {
  return new Promise((resolve) => {
    const fail = (text: string, cause?: unknown): void => {
      child.stdin?.end();
      resolve(failure("sandbox-unavailable", text, { who: "host", cause }));
    };
    child.once("error", (cause) => fail(`it could not be started: ${cause.message}`, cause));
    child.once("close", (code, signal) => {
      child.stdin?.end();
      if (code === 0) return resolve(undefined);
      const said = complaint().trim().split("\n").at(-1) ?? "";
      fail(`its process ended early (${signal ?? code})${said === "" ? "" : `: ${said}`}`);
    });
  });
}

/** What our own process wrote; whatever else stands there is nothing. */
function readTold(line: string): Told | undefined {
  try {
    return JSON.parse(line) as Told;
  } catch {
    return undefined;
  }
}
