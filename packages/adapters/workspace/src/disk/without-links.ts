/** Falls back to another way where a disk has no hard links, or none to this file. */
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
