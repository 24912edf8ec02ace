/** Sparse checkout: reads which files of a commit a working tree leaves out, and passes that on to a new tree. */
import { join } from "node:path";
import type { RepositoryPlace } from "@lathe/system/git";
import { inFolder, plainSettings, plainText, replaceFile } from "@lathe/system/git";

export interface SparseCheckout {
  /** The patterns, as git-sparse-checkout(1) keeps them. */
  readonly rules: string;
  readonly isCone: boolean;
  /** Whether each working tree has its own settings. */
  readonly isOwn: boolean;
}

const maxSettings = 4 * 1024 * 1024;
const maxRules = 4 * 1024 * 1024;

/** Undefined where all files are checked out. */
export function sparseCheckoutOf({
  common,
  gitFolder,
}: Pick<RepositoryPlace, "common" | "gitFolder">): SparseCheckout | undefined {
  const shared = plainSettings(plainText(join(common, "config"), maxSettings) ?? "");
  const isOwn = isTrue(shared?.get("extensions.worktreeconfig"));
  const own = isOwn
    ? plainSettings(plainText(join(gitFolder, "config.worktree"), maxSettings) ?? "")
    : undefined;
  const holds = (name: string): boolean => isTrue(own?.get(name) ?? shared?.get(name));
  const rules = holds("core.sparsecheckout")
    ? plainText(join(gitFolder, "info", "sparse-checkout"), maxRules)
    : undefined;
  return rules === undefined ? undefined : { rules, isCone: holds("core.sparsecheckoutcone"), isOwn };
}

function isTrue(value: string | undefined): boolean {
  return /^(?:true|yes|on|1)$/i.test(value ?? "");
}

/** Lines of a section `core`. */
export function sparseSettings({ isCone }: SparseCheckout): string {
  return `\tsparseCheckout = true\n\tsparseCheckoutCone = ${isCone}\n`;
}

/** Writes the sparse checkout into the git folder of a new working tree. Throws file system errors. */
export function putSparseCheckout(gitFolder: string, sparse: SparseCheckout): void {
  inFolder(gitFolder, ["info"], (folder) => replaceFile(folder, "sparse-checkout", sparse.rules));
  if (sparse.isOwn)
    inFolder(gitFolder, [], (folder) =>
      replaceFile(folder, "config.worktree", `[core]\n${sparseSettings(sparse)}`),
    );
}
