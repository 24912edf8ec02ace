/** Check place: the files and commands that a check of a call can reach. */
import { type CheckPlace, isFailure, type ToolContext } from "@lathe/protocol";
import { holding } from "./running/holding.ts";

export function checkPlace(context: ToolContext, timeoutMs: number): CheckPlace {
  const { workspace, sandbox, search, signal } = context;
  return {
    spawn: (command) => sandbox.spawn({ ...command, ...holding(context) }),
    read: (path) => workspace.read(path),
    files: async (path, { extensions, limit }) => {
      const glob = `*{${extensions.join(",")}}`;
      const found = await search.files(
        { path: path || ".", glob, limit, exclude: context.unreadable(path || ".") },
        signal,
      );
      return isFailure(found) ? found : { paths: found.paths, more: found.more };
    },
    signal,
    timeoutMs,
  };
}
