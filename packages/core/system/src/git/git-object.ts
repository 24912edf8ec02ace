/** An object of git, and the error for an unreadable one. */

export type ObjectType = "commit" | "tree" | "blob" | "tag";

export interface GitObject {
  readonly type: ObjectType;
  readonly bytes: Buffer;
}

/** The object is missing, damaged, or too large. */
export class ObjectError extends Error {}
