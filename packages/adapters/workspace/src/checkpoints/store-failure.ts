/** What the file system says of the store, as a failure: hardly any of it is for ever. */
import type { Failure } from "@lathe/protocol";
import { errorCode, fileFailure } from "../file-failure.ts";

/** Of a store that cannot be had at all. */
const lasting = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "EINVAL"]);

/** Rethrows what is no error of the file system. */
export function storeFailure(path: string, error: unknown, when?: "at its opening"): Failure {
  const isLasting = when !== undefined && lasting.has(errorCode(error));
  return { ...fileFailure(path, error), who: "store", retry: isLasting ? "never" : "same" };
}
