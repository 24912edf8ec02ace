/** Run options: what the command line of this process says, read with its environment. */
import {
  type AgentOptions,
  type AgentValues,
  type ConfigFlags,
  type LoadedOptions,
  loadAgentOptions,
} from "@lathe/config";
import { type Failure, isFailure } from "@lathe/protocol";
import { harnessVersion } from "../command-line/harness-version.ts";
import { remark as toStderr } from "../command-line/show-failure.ts";

export async function agentOptions(
  values: AgentValues,
  remark: (text: string) => void = toStderr,
): Promise<AgentOptions | Failure> {
  const loaded = await loadOptions(values);
  if (isFailure(loaded)) return loaded;
  for (const text of loaded.remarks) remark(text);
  return { ...loaded.options, onRemark: remark };
}

/** As `loadAgentOptions`, for this process. */
export function loadOptions(
  values: AgentValues,
  flags: Pick<ConfigFlags, "asksTrust"> = {},
): Promise<LoadedOptions | Failure> {
  const { env, argv, execArgv } = process;
  const program = { env, argv, execArgv, version: harnessVersion(), onRemark: toStderr };
  return loadAgentOptions(values, program, flags);
}
