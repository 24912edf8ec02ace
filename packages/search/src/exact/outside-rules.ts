/** Outside rules: files that say what is ignored and lie outside the folders that are watched. */
import { readFileSync, type Stats, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { repositoryOf } from "../tree/git-index.ts";

const names = [".gitignore", ".ignore", ".rgignore"];

/** Whether a file or folder of the tree says what is ignored, or that a repository begins. */
export function speaksOfIgnoring(path: string): boolean {
  return /(?:^|\/)\.(?:git|(?:git|rg|lathe)?ignore)$/.test(path);
}

export class OutsideRules {
  readonly #root: string;
  readonly #configHome: string;
  /** The repository that the root is in. */
  readonly #place: string;
  #paths: readonly string[] = [];
  #noted = "";

  /** `configHome`: of people's configuration; their `.config` when absent. */
  constructor(root: string, configHome: string | undefined) {
    this.#root = root;
    this.#configHome = configHome ? resolve(root, configHome) : join(homedir(), ".config");
    this.#place = placeOf(root);
  }

  /** *Contract:* false when the root is in another repository than it was, or in none any more. */
  note(): boolean {
    this.#paths = this.#named();
    this.#noted = this.#state();
    return placeOf(this.#root) === this.#place;
  }

  haveChanged(): boolean {
    return this.#state() !== this.#noted;
  }

  #named(): readonly string[] {
    const above: string[] = [];
    for (let folder = this.#root; dirname(folder) !== folder; folder = dirname(folder))
      above.push(dirname(folder));
    const repository = repositoryOf(this.#root);
    const configs = [join(homedir(), ".gitconfig"), join(this.#configHome, "git", "config")];
    return [
      // A folder becomes a repository, or is none any more.
      ...[this.#root, ...above].map((folder) => join(folder, ".git")),
      ...above.flatMap((folder) => names.map((name) => join(folder, name))),
      ...(repository ? [join(repository.common, "info", "exclude")] : []),
      ...configs,
      join(this.#configHome, "git", "ignore"),
      ...configs.flatMap((config) => this.#excludesFiles(config)),
    ];
  }

  /** Read as ripgrep reads it; where it is said more than once each counts. */
  #excludesFiles(config: string): readonly string[] {
    try {
      return [...readFileSync(config, "utf8").matchAll(/^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$/gim)].map(
        ([, path = ""]) => resolve(this.#root, path.replaceAll("~", homedir())),
      );
    } catch {
      // There is none, or ripgrep cannot read it either.
      return [];
    }
  }

  #state(): string {
    return this.#paths
      .map((path) => {
        const stats = statsOf(path);
        // What is in a folder has no say.
        return stats?.isFile() ? `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}` : stats?.ino;
      })
      .join("\n");
  }
}

function placeOf(root: string): string {
  const repository = repositoryOf(root);
  return repository ? `${repository.top}\n${repository.common}` : "";
}

/** Of what a link leads to: that is what is read. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Nobody may look, or a link leads to itself.
    return undefined;
  }
}
