/** Run-later entry: files that one program on the user's machine runs or obeys by itself. */

export interface RunLaterEntry {
  /**
   * Paths in small letters, from any folder on. A `*` stands for any run of characters within a name; a slash at the end
   * means the folder and everything below it.
   */
  readonly paths: readonly string[];
  /** The program that obeys them. */
  readonly reader: string;
  /** What the program does with them, without the user choosing to run the project's code. */
  readonly why: string;
  /** Where the program's documentation says so. */
  readonly source: string;
  /** Installing or building writes them anew: commands may write them, and what they wrote is taken back. */
  readonly isRewritten?: true;
}
