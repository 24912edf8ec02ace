/** An object of git, and the error of one that cannot be read. */

export type ObjectType = "commit" | "tree" | "blob" | "tag";

export interface GitObject {
  readonly type: ObjectType;
  readonly bytes: Buffer;
}

/** What is missing, damaged, or larger than is read. */
export class ObjectError extends Error {}
