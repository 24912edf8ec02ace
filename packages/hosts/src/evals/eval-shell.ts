/** Eval shell: a sandbox of its own around one folder, for the commands of tasks. */
import type { Shell, ShellResult } from "@lathe/evals";
import { type Failure, isFailure } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { openLoneSandbox } from "../lone-sandbox.ts";
import { exported } from "./task-env.ts";

export interface EvalShell {
  readonly run: Shell;
  /** What a person should know of its sandbox. */
  readonly remark?: string;
  /** *Contract:* ends every process; idempotent. */
  close(): Promise<void>;
}

/** What commands reach: hosts by their rules, or with `open` whatever the machine does. */
export type Reach = { readonly hosts: readonly string[] } | "open";

interface Place extends Pick<LocalOptions, "env" | "sandboxLimits"> {
  /** Ends what runs. */
  readonly signal: AbortSignal;
}

export async function openEvalShell(
  folder: string,
  reach: Reach,
  { env, sandboxLimits, signal }: Place,
): Promise<EvalShell | Failure> {
  const network = reach === "open" ? "host" : "none";
  const hosts = reach === "open" ? [] : reach.hosts;
  const opened = await openLoneSandbox({ cwd: folder, env, hosts, sandboxLimits, network });
  if (isFailure(opened)) return opened;
  const { sandbox, close, remark } = opened;
  const run: Shell = async ({ script, cwd, timeoutMs, env: more = {} }) => {
    const result = await sandbox.exec({ script: `${exported(more)}${script}`, cwd }, { timeoutMs, signal });
    if (isFailure(result)) return result;
    if (result.failure) return result.failure;
    const { code, output, timedOut } = result;
    return { output, timedOut, ...(code !== undefined && { code }) } satisfies ShellResult;
  };
  return { run, close, ...(remark !== undefined && { remark }) };
}
