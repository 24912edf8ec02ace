/** Whether one path of this machine is below another. */
import { isAbsolute, sep } from "node:path";

/** As `isBelow` of @lathe/protocol, with this machine's separator. */
export function isBelow(path: string, folder: string): boolean {
  if (folder === "" || folder === ".")
    return !isAbsolute(path) && path !== ".." && !path.startsWith(`..${sep}`);
  const start = folder.endsWith(sep) ? folder : `${folder}${sep}`;
  return path.startsWith(start) || `${path}${sep}` === start;
}
