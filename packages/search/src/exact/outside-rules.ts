/** Outside rules: files that say what is ignored and lie outside the folders that are watched. */
import { lstatSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Repository } from "../tree/git-index.ts";

const names = [".gitignore", ".ignore", ".rgignore"];

/** Whether a file of the tree says what is ignored. */
export function speaksOfIgnoring(path: string): boolean {
  return /(?:^|\/)\.(?:git|rg|lathe)?ignore$/.test(path);
}

export class OutsideRules {
  readonly #paths: readonly string[];
  #noted = "";

  constructor(root: string, repository: Repository | undefined) {
    const above: string[] = [];
    for (let folder = root; dirname(folder) !== folder; folder = dirname(folder)) above.push(dirname(folder));
    const home = homedir();
    this.#paths = [
      ...above.flatMap((folder) => names.map((name) => join(folder, name))),
      ...(repository ? [join(repository.common, "info", "exclude"), join(repository.common, "config")] : []),
      ...[".gitconfig", ".config/git/config", ".config/git/ignore"].map((name) => join(home, name)),
      // A folder becomes a repository, or is none any more.
      join(root, ".git"),
    ];
  }

  note(): void {
    this.#noted = this.#state();
  }

  haveChanged(): boolean {
    return this.#state() !== this.#noted;
  }

  #state(): string {
    return this.#paths
      .map((path) => {
        const stats = lstatSync(path, { throwIfNoEntry: false });
        // What is in a folder has no say.
        return stats?.isFile() ? `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}` : stats?.ino;
      })
      .join("\n");
  }
}
