/**
 * Whether a path is a folder or lies below it. It compares text, with `/` between names: links are not followed, and
 * neither path may go up from a folder it has gone into. A slash at the end makes no difference. `.` and the empty
 * text are the folder that relative paths start from; they hold every relative path that does not go up.
 */
export function isBelow(path: string, folder: string): boolean {
  if (folder === "" || folder === ".")
    return !path.startsWith("/") && path !== ".." && !path.startsWith("../");
  const start = folder.endsWith("/") ? folder : `${folder}/`;
  return path.startsWith(start) || `${path}/` === start;
}
