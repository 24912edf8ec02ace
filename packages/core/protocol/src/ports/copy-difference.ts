/** Copy differences: what a copy of a folder differs in from the folder, whichever way the copy was made. */

export interface CopySide {
  readonly kind: "file" | "folder" | "link" | "other" | "absent";
  /** Permission bits. */
  readonly mode: number;
}

export interface CopyDifference {
  /** Below the folder, with `/`; one character per byte. */
  readonly path: string;
  readonly what: "added" | "modified" | "deleted" | "mode";
  readonly base: CopySide;
  readonly fork: CopySide;
  /** Whether the folder has changed there since the copy was made. */
  readonly isMoved: boolean;
}

/** The copy compared with its folder. */
export interface ComparedCopy {
  readonly differences: readonly CopyDifference[];
  /** Why some differences are applied only on request, by path. */
  readonly held: ReadonlyMap<string, string>;
  /** Why programs on this machine or later sessions run or follow some of them, by path. */
  readonly runLater: ReadonlyMap<string, string>;
  /** *Contract:* the bytes of a file; undefined for anything but a readable regular file of at most 512 KiB. Follows no link. */
  bytesOf(side: "base" | "fork", path: string): Uint8Array | undefined;
}

export interface ApplyOptions {
  /** Also what programs on the host would run by themselves. */
  readonly hostRun: boolean;
  /** Also over what has changed in the folder since the copy was made. */
  readonly force: boolean;
  /** Stops it before the first change is made; after that it finishes. */
  readonly signal?: AbortSignal;
  onRemark?(text: string): void;
}

/** What was applied of a copy's differences. */
export interface AppliedCopy {
  readonly kept: readonly CopyDifference[];
  /** Why some differences were not applied, by path; the copy stays for their sake. */
  readonly held: ReadonlyMap<string, string>;
  /** Those that are never applied, and can only be copied by hand. */
  readonly stuck: ReadonlySet<string>;
  /** The folder of the copy. */
  readonly from: string;
  /** Why programs on this machine or later sessions run or follow some of what was applied, by path. */
  readonly runLater: ReadonlyMap<string, string>;
}
