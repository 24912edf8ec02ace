/** @lathe/system: what is asked of the operating system with care, in one way for all. */
export { type FileText, readFileText } from "./src/file-text.ts";
export { makeOwnedFolder, orphanedFolders } from "./src/owned-folder.ts";
export { takeLock } from "./src/process-lock.ts";
export { isRunning, ownMark, type ProcessMark } from "./src/process-mark.ts";
export { isInside, liesIn, nearestReal, realOr } from "./src/real-path.ts";
export { cacheFolder, configFolder, type Env, homeFolder } from "./src/user-folders.ts";
export { type WriteWholeOptions, writeWhole } from "./src/write-whole.ts";
