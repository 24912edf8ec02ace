/** Where a path leads, links followed, also when there is nothing yet. */
import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";

export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** *Contract:* undefined when it cannot be told: up and down again through what is not there. */
export function whereLeads(folder: string, target: string): string | undefined {
  const path = target.startsWith("/") ? target : `${folder}/${target}`;
  const real = realPath(path);
  if (real !== undefined) return real;
  return goesUpAgain(target) ? undefined : realPlace(resolve(path));
}

/** Whether a path goes up from a folder that it has gone into: that may be a link, and lead up from anywhere. */
export function goesUpAgain(path: string): boolean {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return parts.some((part, at) => part === ".." && at > 0 && parts[at - 1] !== "..");
}

/** Of what is not there, where it would be. */
export function realPlace(path: string): string {
  const real = realPath(path);
  if (real !== undefined || path === "/") return real ?? path;
  const above = dirname(path);
  const name = path.slice(above === "/" ? 1 : above.length + 1);
  return `${realPlace(above).replace(/\/$/u, "")}/${name}`;
}
