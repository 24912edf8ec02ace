/** What git ignores in a folder: its own rules, those of the folders above it, and those of the repository and the user. */
import type { HeldFolder } from "../held-folder.ts";
import { OddFileError, readHeldFile } from "./held-file.ts";
import { type IgnorePattern, parsePatterns } from "./ignore-pattern.ts";

/** Rules in a longer file would take long to be matched. */
const maxBytes = 512 * 1024;

export interface IgnoredItem {
  /** From the top of the working tree, one character per byte. */
  readonly path: string;
  readonly name: string;
  readonly isFolder: boolean;
}

export class IgnoreScope {
  readonly #above: IgnoreScope | undefined;
  /** From the top, with a slash at its end unless it is the top. */
  readonly #prefix: string;
  readonly #patterns: readonly IgnorePattern[];
  readonly #ignoresCase: boolean;
  #isWhole: boolean | undefined;

  private constructor(above: IgnoreScope | undefined, prefix: string, rules: Rules) {
    this.#above = above;
    this.#prefix = prefix;
    this.#patterns = rules.patterns;
    this.#ignoresCase = rules.ignoresCase;
  }

  /** `texts`: of the repository, then of the user. */
  static base(texts: readonly string[], ignoresCase: boolean): IgnoreScope {
    const patterns = texts.flatMap((text) => parsePatterns(text, ignoresCase));
    return new IgnoreScope(undefined, "", { patterns, ignoresCase });
  }

  /** `prefix`: of the folder, from the top. *Contract:* throws where its rules are there and cannot be read. */
  enter(folder: HeldFolder, prefix: string, hasRules: boolean): IgnoreScope {
    const ignoresCase = this.#ignoresCase;
    const patterns = hasRules ? parsePatterns(rulesIn(folder), ignoresCase) : [];
    return new IgnoreScope(this, prefix, { patterns, ignoresCase });
  }

  /** Whether everything in the folder that is not tracked is ignored. */
  get isWhole(): boolean {
    const path = this.#prefix.slice(0, -1);
    const own = { path, name: path.slice(path.lastIndexOf("/") + 1), isFolder: true };
    this.#isWhole ??= this.#above !== undefined && path !== "" && this.#above.ignores(own);
    return this.#isWhole;
  }

  /** Of something directly in the folder. What is said last, and further down, counts. */
  ignores({ path, name, isFolder }: IgnoredItem): boolean {
    if (this.isWhole) return true;
    for (let at: IgnoreScope | undefined = this; at; at = at.#above) {
      const inside = path.slice(at.#prefix.length);
      const found = at.#patterns.find(
        (one) => (isFolder || !one.isFolder) && one.matches(one.isName ? name : inside),
      );
      if (found) return !found.isNegative;
    }
    return false;
  }
}

interface Rules {
  readonly patterns: readonly IgnorePattern[];
  readonly ignoresCase: boolean;
}

function rulesIn(folder: HeldFolder): string {
  try {
    return readHeldFile(folder, ".gitignore", maxBytes)?.bytes.toString("latin1") ?? "";
  } catch (error) {
    // Git does not follow it either: its rules do not count.
    if (error instanceof OddFileError && error.cause !== undefined) return "";
    throw error;
  }
}
