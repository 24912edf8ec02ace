/** Falls back to another way if a disk has no hard links, or refuses one to this file. */
import { errorCode } from "../file-failure.ts";

const unlinkable = new Set(["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"]);

export function withoutLinks(link: () => void, otherwise: () => void): void {
  try {
    link();
  } catch (error) {
    if (!unlinkable.has(errorCode(error))) throw error;
    otherwise();
  }
}
