/** Eval shell: a sandbox of its own around one folder, for the commands of tasks. */
import type { OpenShell, Shell, ShellResult } from "@lathe/evals";
import { type Failure, type ForkLayers, isFailure } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { openLoneSandbox } from "../sandbox/lone-sandbox.ts";
import { exported } from "./task-env.ts";

export interface EvalShell extends OpenShell {
  /** What a person should know of its sandbox. */
  readonly remark?: string;
}

/** What commands reach: hosts by their rules, or with `open` whatever the machine does. */
export type Reach = { readonly hosts: readonly string[] } | "open";

export interface EvalShellPlace extends Pick<LocalOptions, "env" | "sandboxLimits"> {
  /** Ends what runs. */
  readonly signal: AbortSignal;
}

interface Place extends EvalShellPlace {
  /** The folder is seen as a view of it. */
  readonly layers?: ForkLayers | undefined;
  /** Its package managers find which registries the user has. */
  readonly installs?: boolean;
  /** Folders beside it whose files may be a project's. */
  readonly projects?: readonly string[];
}

export async function openEvalShell(
  folder: string,
  reach: Reach,
  { env, sandboxLimits, signal, layers, installs = false, projects = [] }: Place,
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
