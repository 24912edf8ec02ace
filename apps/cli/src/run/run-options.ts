/** Reads the options of this process from its command line and environment. */
import {
  type AgentOptions,
  type AgentValues,
  type ConfigFlags,
  type LoadedOptions,
  loadAgentOptions,
  type Program,
  readAgentOptions,
} from "@lathe/config";
import type { Failure } from "@lathe/protocol";
import { harnessVersion } from "../command-line/harness-version.ts";
import { remark as toStderr } from "../command-line/show-failure.ts";

/** This process, as it is now. */
export function thisProgram(): Program {
  const { env, argv, execArgv } = process;
  return { env, argv, execArgv, version: harnessVersion(), onRemark: toStderr };
}

/** `remark` hears what is odd, now and in the session; absent: it is printed. */
export function agentOptions(
  values: AgentValues,
  remark: (text: string) => void = toStderr,
): Promise<AgentOptions | Failure> {
  return readAgentOptions(values, { ...thisProgram(), onRemark: remark });
}

/** Like `loadAgentOptions`, for this process. */
export function loadOptions(
  values: AgentValues,
  flags: Pick<ConfigFlags, "asksTrust"> = {},
): Promise<LoadedOptions | Failure> {
  return loadAgentOptions(values, thisProgram(), flags);
}
