/** Which files of a working tree differ from its commit. */
import { type Failure, isFailure } from "@lathe/protocol";
import { gitIn } from "./git-in.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Which repository it is the working tree of, whatever a file in it says, and the commit it is compared with. */
export interface ComparedWith {
  readonly gitFolder: string;
  readonly commit: string;
  /** What git takes for checked out: absent for the working tree's own index, in which anybody may have written. */
  readonly index?: string;
}

/** Of one character per byte; what git ignores is not among them. */
export async function changedFiles(
  top: string,
  env: Env,
  compared?: ComparedWith,
): Promise<readonly string[] | Failure> {
  const tracked = await changedTracked(top, env, compared);
  if (isFailure(tracked)) return tracked;
  const listing = [...placeOf(top, compared), "ls-files", "-z", "-o", "--exclude-standard"];
  const untracked = await gitIn({ cwd: top, index: compared?.index }, listing, env);
  if (isFailure(untracked)) return untracked;
  return [...new Set([...tracked, ...namesIn(untracked)])];
}

export async function changedTracked(
  top: string,
  env: Env,
  compared?: ComparedWith,
): Promise<readonly string[] | Failure> {
  const options = ["--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules=all"];
  const words = ["diff", "-z", ...options, compared?.commit ?? "HEAD"];
  const found = await gitIn({ cwd: top, index: compared?.index }, [...placeOf(top, compared), ...words], env);
  return isFailure(found) ? found : namesIn(found);
}

/** A file whose time was put back has been changed still. */
const statsCount = ["-c", "core.trustctime=true", "-c", "core.checkStat=default"];

function placeOf(top: string, compared: ComparedWith | undefined): readonly string[] {
  return compared ? [...statsCount, `--git-dir=${compared.gitFolder}`, `--work-tree=${top}`] : [];
}

export function namesIn(listed: string): readonly string[] {
  return listed.split("\0").filter(Boolean);
}
