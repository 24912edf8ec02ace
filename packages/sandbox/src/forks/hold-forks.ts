/** Keeps forks from being opened while something is done with them, and tells whether they are open. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Failure, failure } from "@lathe/protocol";
import type { Fork } from "./fork.ts";

export interface Hold {
  /** *Contract:* resolves when they may be opened again; idempotent. */
  release(): Promise<void>;
}

/** *Contract:* all or none; a failure that names one that is open. */
export async function holdForks(binary: string, forks: readonly Fork[]): Promise<Hold | Failure> {
  const child = spawn(binary, ["hold", ...forks.map(({ upper }) => upper)], {
    stdio: ["pipe", "pipe", "ignore"],
    env: {},
  });
  const ended = once(child, "close").catch((cause: unknown) => cause);
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await Promise.race([once(child.stdout, "data").catch(() => undefined), ended]);
  if (said.startsWith("held\0")) {
    const release = async (): Promise<void> => {
      child.stdin.end();
      await ended;
    };
    return { release };
  }
  const [, upper] = said.split("\0");
  const open = forks.find((fork) => fork.upper === upper);
  const text = open
    ? `the fork ${open.id} of ${open.base} is open: wait until what works in it has ended`
    : "the forks could not be locked";
  return failure("no-access", text, { who: "host", retry: "same", cause: await ended });
}
