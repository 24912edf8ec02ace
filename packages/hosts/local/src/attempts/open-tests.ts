/** Opens the sandbox in which the tests of an attempt run. */
import { networkRules } from "@lathe/policy";
import type { Failure } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { type LoneSandbox, openLoneSandbox } from "../sandbox/lone-sandbox.ts";

type Place = Pick<LocalOptions, "cwd" | "env" | "mode" | "rules" | "sandbox" | "sandboxLimits">;

/** *Contract:* the caller always closes it. */
export function openTests({ mode, rules, sandbox: choice, ...place }: Place): Promise<LoneSandbox | Failure> {
  const { hosts, bars } = networkRules(rules, () => mode);
  return openLoneSandbox({ ...place, hosts: choice === "off" ? [] : hosts, bars, choice });
}
