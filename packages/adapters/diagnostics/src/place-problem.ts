/** Place problem: converts a checker's problem to a workspace path and a one-line text. */
import { isAbsolute, posix, relative, sep } from "node:path";
import type { Problem } from "@lathe/protocol";

const maxWords = 500;

/** `folder` is the checker's, from the root. */
export function placeProblem(problem: Problem, root: string, folder: string): Problem {
  const { code, ...rest } = problem;
  const message = oneLine(problem.message);
  return {
    ...rest,
    path: oneLine(placed(problem.path, root, folder)),
    ...(code !== undefined && { code: oneLine(code) }),
    message: message.length > maxWords ? `${message.slice(0, maxWords)}...` : message,
  };
}

function placed(path: string, root: string, folder: string): string {
  if (!isAbsolute(path)) return posix.join(folder, path);
  const inside = relative(root, path);
  return inside === "" || inside === ".." || inside.startsWith(`..${sep}`) ? path : inside;
}

const introducer = "\u001b";
const colour = new RegExp(`${introducer}\\[[\\d;?]*[A-Za-z]`, "gu");

/** Removes terminal control characters. */
function oneLine(text: string): string {
  return text
    .replace(colour, "")
    .replace(/\p{Cc}/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
}
