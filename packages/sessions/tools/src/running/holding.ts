/** Holding: effects granted to a call's command beyond the sandbox's spec, and paths sealed from it. */
import { isAbsolute, join } from "node:path";
import type { Command, ToolContext } from "@lathe/protocol";

export function holding({ grants, sealed, workspace }: ToolContext): Pick<Command, "grants" | "sealed"> {
  return {
    ...(grants.length > 0 && { grants }),
    ...(sealed.length > 0 && {
      sealed: sealed.map((path) => (isAbsolute(path) ? path : join(workspace.root, path))),
    }),
  };
}
