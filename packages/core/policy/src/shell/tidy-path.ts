/** Removes `.`, `..` and doubled slashes from a path, by its text alone; links are not followed. */
export function tidy(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  const root = path.startsWith("/") ? "/" : "";
  return root + parts.join("/") || ".";
}
