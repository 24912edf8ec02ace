/** Whether a folder's times tell that names in it have come or gone: so on disks of the machine, not on every mounted store. */
import { lstatSync, type Stats, statfsSync } from "node:fs";

/** As in statfs(2): ext4, xfs, btrfs, tmpfs, overlayfs, f2fs, zfs. */
const localTypes = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1]);

/** For folders on the same disk as the root; elsewhere than on Linux never. */
export function tellsOfNames(root: string): (stats: Stats) => boolean {
  const isLocal = process.platform === "linux" && localTypes.has(statfsSync(root).type);
  const { dev } = lstatSync(root);
  return (stats) => isLocal && stats.dev === dev;
}
