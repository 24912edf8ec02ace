/** Bearer tokens from a command in the user's own configuration, such as `gcloud auth print-access-token`. */
import { execFile } from "node:child_process";
import { isAbsolute } from "node:path";
import { type Failure, failure, isFailure } from "@lathe/protocol";
import { type Env, hostProgram, hostProgramPath } from "@lathe/system";
import type { TokenSource } from "./bearer.ts";

/** Clouds issue tokens for an hour or less; a new one costs a second. */
const freshMs = 5 * 60_000;
const timeoutMs = 20_000;
const longest = 16_384;

/** By command. */
const lastTokens = new Map<string, string>();

/** The last token that a command printed in this process, so that callers can redact it. */
export function lastToken(command: readonly string[]): string | undefined {
  return lastTokens.get(JSON.stringify(command));
}

/**
 * *Contract:* runs the command when the first token is needed; one run serves all waiting callers. No shell.
 */
export function createTokenCommand(command: readonly string[], env: Env): TokenSource {
  let running: Promise<string | Failure> | undefined;
  let last: { readonly token: string; readonly at: number } | undefined;
  const renewed = async (): Promise<string | Failure> => {
    const token = await printed(command, env);
    if (!isFailure(token)) lastTokens.set(JSON.stringify(command), token);
    last = isFailure(token) ? undefined : { token, at: performance.now() };
    return token;
  };
  return async (refused) => {
    const isGood = last && last.token !== refused && performance.now() - last.at < freshMs;
    if (last && isGood) return last.token;
    running ??= renewed().finally(() => {
      running = undefined;
    });
    return await running;
  };
}

function printed(command: readonly string[], env: Env): Promise<string | Failure> {
  const [name = "", ...args] = command;
  const program = isAbsolute(name) ? name : hostProgram(name, env);
  if (program === undefined) {
    const text = `The token command "${command.join(" ")}" gave none: ${name} was not found outside this project. Name it by its absolute path`;
    return Promise.resolve(failure("unauthorized", text, { who: "user" }));
  }
  // Programs that it starts itself are found as usual.
  const own = { ...env, PATH: hostProgramPath(env) };
  const options = { env: own, timeout: timeoutMs, maxBuffer: longest, encoding: "utf8" } as const;
  const { promise, resolve } = Promise.withResolvers<string | Failure>();
  const child = execFile(program, args, options, (error, output, errors) => {
    const token = output.trim();
    if (!error && /^[\x21-\x7e]+$/.test(token)) return resolve(token);
    // Its stdout may contain a token; its stderr is meant to be read.
    const said = errors.trim().split("\n", 1)[0] ?? "";
    const why = error
      ? said || (error.killed ? `no answer in ${timeoutMs / 1000} s` : "it failed")
      : "it printed no token";
    const text = `The token command "${command.join(" ")}" gave none: ${why.slice(0, 200)}. Try it in a terminal`;
    resolve(failure("unauthorized", text, { who: "user" }));
  });
  child.stdin?.end();
  return promise;
}
