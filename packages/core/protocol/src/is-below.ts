/**
 * Whether a path is a folder or is inside it. Compares text with `/` between names; does not follow links.
 * Neither path may go up from a folder it has entered. A trailing slash makes no difference. `.` and the
 * empty text mean the folder that relative paths start from; it contains every relative path that does not go
 * up.
 */
export function isBelow(path: string, folder: string): boolean {
  if (folder === "" || folder === ".")
    return !path.startsWith("/") && path !== ".." && !path.startsWith("../");
  const start = folder.endsWith("/") ? folder : `${folder}/`;
  return path.startsWith(start) || `${path}/` === start;
}
