/** @lathe/workspace: files with versions, and commits that happen wholly or not at all. */
export { createWorkspace, type WorkspaceOptions } from "./src/create-workspace.ts";
export { type Disk, nodeDisk } from "./src/disk.ts";
