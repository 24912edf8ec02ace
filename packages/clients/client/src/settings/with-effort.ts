/** The options with another effort, which also overrides that of a resumed session. */

import type { AgentOptions } from "@lathe/config";
import type { Effort } from "@lathe/protocol";

export function withEffort(options: AgentOptions, effort: Effort | undefined): AgentOptions {
  const { effort: _, ...rest } = options;
  const said = { ...options.said, effort: effort ?? ("default" as const) };
  return effort ? { ...rest, effort, said } : { ...rest, said };
}
