/** Eval shell: a separate sandbox around one folder, for the commands of tasks. */
import type { EvalShell, Shell, ShellResult, ShellWanted } from "@lathe/evals";
import { exported } from "@lathe/evals/task-env";
import { type Failure, isFailure } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { openLoneSandbox } from "../sandbox/lone-sandbox.ts";

export interface EvalShellPlace extends Pick<LocalOptions, "env" | "sandboxLimits"> {
  /** Ends running commands. */
  readonly signal: AbortSignal;
}

export async function openEvalShell(
  folder: string,
  { reach, layers, installs = false, projects = [] }: ShellWanted,
  { env, sandboxLimits, signal }: EvalShellPlace,
): Promise<EvalShell | Failure> {
  const network = reach === "open" ? "host" : "none";
  const hosts = reach === "open" ? [] : reach.hosts;
  const more = { ...(layers && { fork: layers }), installs, projects };
  const opened = await openLoneSandbox({ cwd: folder, env, hosts, sandboxLimits, network, ...more });
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
