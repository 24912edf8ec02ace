/** Refused links: a `.git` file that leads to a repository which does not know the folder may have been written by anybody. */
import { join } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import { refusedLink } from "@lathe/system/git";

/** *Contract:* undefined where a folder has no such link above it. */
export function linkFailure(folder: string): Failure | undefined {
  const refused = refusedLink(folder);
  if (!refused) return undefined;
  const { top, gitFolder } = refused;
  const text = `${join(top, ".git")} leads to ${gitFolder}, which does not know ${top}: if that is your repository of it, say so with \`git --git-dir ${gitFolder} config core.worktree ${top}\`, or for a working tree that was moved with \`git worktree repair\``;
  return failure("invalid-arguments", text, { who: "user" });
}
