/** Folders that are no project: a checkpoint would include everything, and a rewind would undo too much. */
import { parse } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import { isBelow } from "@lathe/system/paths";

const systemFolders = [
  "/Applications /Library /System /Users /Volumes /bin /boot /dev /etc /home /lib /lib64 /media /mnt /nix /opt",
  "/private /private/etc /private/tmp /private/var /proc /root /run /sbin /snap /srv /sys /tmp /usr /usr/bin",
  "/usr/lib /usr/local /usr/share /var /var/lib /var/log /var/tmp",
  "C:\\Windows C:\\Users C:\\ProgramData",
].flatMap((line) => line.split(" "));
/** They contain no files on a disk. */
const unreal = ["/dev", "/proc", "/sys"];

/** `root` and `home` are real paths. */
export function refuseRoot(root: string, home: string): Failure | undefined {
  const why = whyNot(root, home);
  if (why === undefined) return undefined;
  const text = `Checkpoints are off: ${root} is ${why}. Start in the folder of the project.`;
  return failure("no-access", text, { who: "user" });
}

function whyNot(root: string, home: string): string | undefined {
  if (root === parse(root).root) return "the root of the file system";
  if (root === home) return "the home folder";
  if (isBelow(home, root)) return "above the home folder";
  if (systemFolders.includes(root)) return "a folder of the system";
  return unreal.some((folder) => isBelow(root, folder)) ? "a folder of the system" : undefined;
}
