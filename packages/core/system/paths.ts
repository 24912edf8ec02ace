/** Paths: where they lead, what is there, and how they lie to each other. */

export { isBelow } from "./src/paths/is-below.ts";
export { isFolder, kindOf } from "./src/paths/kind-of.ts";
export { goesUpAgain, realPath, realPlace, whereLeads } from "./src/paths/real-path.ts";
