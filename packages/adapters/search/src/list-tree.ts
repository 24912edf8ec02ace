/** The files of a tree that are searched, as ripgrep lists them. */
import { sep } from "node:path";
import { type Failure, isFailure } from "@lathe/protocol";
import { nestedIgnore } from "./nested-ignore.ts";
import { filesArgs, type Place } from "./place.ts";
import { runRipgrep } from "./ripgrep.ts";

/** *Contract:* .gitignore and .latheignore heeded; `see` is called with each path, in no order. */
export async function listTree(
  place: Place,
  see: (path: string) => void,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const ignored = nestedIgnore(place);
  const record = (printed: string): boolean => {
    const path = toPath(printed);
    if (path !== "" && !ignored(path)) see(path);
    return true;
  };
  const args = ["--no-messages", ...filesArgs(place)];
  const { program, root } = place;
  const ended = await runRipgrep({ program, args, cwd: root, separator: "\0", signal, record });
  return isFailure(ended) ? ended : undefined;
}

function toPath(printed: string): string {
  const path = printed.startsWith("./") ? printed.slice(2) : printed;
  return sep === "\\" ? path.replaceAll("\\", "/") : path;
}
