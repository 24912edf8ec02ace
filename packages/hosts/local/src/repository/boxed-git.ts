/** The git port, implemented by git in the sandbox. */
import { join } from "node:path";
import { type Failure, failure, type Git, isFailure, type OpenRepository } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { plainText, readHead, readRef, repositoryPlace } from "@lathe/system/git";
import { openGitBox } from "./git-box.ts";

const maxMoves = 64 * 1024 * 1024;

export function createBoxedGit(env: Env): Git {
  return { open: (folder, writes) => openBoxed(env, folder, writes) };
}

async function openBoxed(env: Env, folder: string, writes?: string): Promise<OpenRepository | Failure> {
  const place = repositoryPlace(folder);
  if (!place) return failure("not-found", `${folder} is no git repository`, { who: "user" });
  const box = await openGitBox(env, { place, ...(writes !== undefined && { made: writes }) });
  if (isFailure(box)) return box;
  const { top, gitFolder, common } = place;
  const own = box.newIndex();
  const indexOf = (kind: "repository" | "own" | undefined): string | undefined =>
    kind === "repository" ? (box.takeIndex(join(gitFolder, "index")) ?? box.newIndex()) : kind && own;
  return {
    top,
    tip: (name) => (name === "HEAD" ? readHead(place)?.commit : readRef(common, name)),
    headMoves: () => plainText(join(gitFolder, "logs", "HEAD"), maxMoves) ?? "",
    run: async (args, { index: kind, ...asked } = {}) => {
      const index = indexOf(kind);
      return box.git(args, { ...asked, ...(index !== undefined && { index }) });
    },
    close: () => box.close(),
  };
}
