/** Which files of a working tree differ from its commit. */
import { type Failure, isFailure } from "@lathe/protocol";
import { gitIn } from "./git-in.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Of one character per byte; what git ignores is not among them. */
export async function changedFiles(top: string, env: Env): Promise<readonly string[] | Failure> {
  const tracked = await changedTracked(top, env);
  if (isFailure(tracked)) return tracked;
  const untracked = await gitIn(top, ["ls-files", "-z", "-o", "--exclude-standard"], env);
  if (isFailure(untracked)) return untracked;
  return [...new Set([...tracked, ...namesIn(untracked)])];
}

export async function changedTracked(top: string, env: Env): Promise<readonly string[] | Failure> {
  const options = ["--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=all"];
  const found = await gitIn(top, ["diff", "-z", ...options, "HEAD"], env);
  return isFailure(found) ? found : namesIn(found);
}

export function namesIn(listed: string): readonly string[] {
  return listed.split("\0").filter(Boolean);
}
