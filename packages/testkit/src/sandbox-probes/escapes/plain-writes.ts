/** Escapes: writing outside the workspace with only files, paths and links. */
import { existsSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Ground } from "../ground.ts";
import type { EscapeProbe } from "../probe.ts";
import { python } from "../script-parts.ts";

const grave = { group: "writes", isGrave: true } as const;

/** A new file elsewhere on the machine; a ground's own folders are watched anyway. */
function machineWrite(id: string, folder: string): EscapeProbe {
  const isOpenToAll = ["/tmp", "/var/tmp", "/dev/shm"].includes(folder);
  const path = (ground: Ground): string => `${folder}/lathe-made-${ground.tag}`;
  return {
    ...grave,
    id,
    what: `makes a file in ${folder}`,
    steps: (ground) => `mkdir -p ${folder} 2>/dev/null; echo "# made by a probe" > ${path(ground)}; true`,
    escaped: ({ ground }) => (existsSync(path(ground)) ? `made ${path(ground)}` : undefined),
    restore: (ground) => rmSync(path(ground), { force: true }),
    ...(isOpenToAll ? {} : { needs: ["root"] as const }),
  };
}

export const plainWrites: readonly EscapeProbe[] = [
  {
    ...grave,
    id: "write-absolute",
    what: "writes over a file outside by its absolute path",
    steps: ({ canary }) => `echo changed > ${canary}`,
  },
  {
    ...grave,
    id: "write-new-file",
    what: "makes a new file in a folder outside",
    steps: ({ outside }) => `mkdir -p ${outside}; echo new > ${outside}/new`,
  },
  {
    ...grave,
    id: "write-dotdot",
    what: "writes outside by a path with ..",
    steps: () => "echo changed > ../../../outside/canary; echo new > ../../new; echo new > ../new",
  },
  {
    ...grave,
    id: "write-new-link",
    what: "writes through a symbolic link that the command makes",
    steps: ({ canary, outside }) =>
      `ln -s ${canary} link; echo changed > link; ln -s ${outside} folder; echo new > folder/new; rm -f link folder`,
  },
  {
    ...grave,
    id: "write-old-link",
    what: "writes through a symbolic link to a file that lay in the workspace before",
    setup: ({ workspace, canary }) => symlinkSync(canary, join(workspace, "link")),
    steps: "echo changed > link; cat link",
  },
  {
    ...grave,
    id: "write-old-folder-link",
    what: "writes through a symbolic link to a folder that lay in the workspace before",
    setup: ({ workspace, outside }) => symlinkSync(outside, join(workspace, "folder")),
    steps: "echo changed > folder/canary; echo new > folder/new; rm -f folder/canary; mkdir folder/deep",
  },
  {
    ...grave,
    id: "write-link-in-cwd",
    what: "runs the next command in a folder that the last one replaced by a link leading out",
    steps: ({ outside }) => [
      { script: `mkdir sub; rmdir sub; ln -s ${outside} sub` },
      { script: "pwd; echo new > new; echo changed > canary", cwd: "sub" },
      { script: "rm -f sub" },
    ],
  },
  {
    ...grave,
    id: "write-workspace-swapped",
    what: "replaces the workspace folder itself by a link leading out, then writes there",
    steps: ({ workspace, outside }) => [
      { script: `cd /; mv ${workspace} ${workspace}.old && ln -s ${outside} ${workspace}; true` },
      { script: "echo new > new; echo changed > canary; true" },
    ],
  },
  {
    ...grave,
    id: "write-hard-link",
    what: "makes a hard link to a file outside and writes to it",
    steps: ({ canary, home }) =>
      `ln ${canary} hard && echo changed > hard; ln -L ${home}/.bashrc rc && echo evil >> rc; true`,
  },
  {
    ...grave,
    id: "write-by-rename",
    what: "moves files out of the workspace over files outside, and files outside into it",
    steps: ({ canary, home }) =>
      `echo changed > mine; mv -f mine ${canary}; mv ${home}/.bashrc stolen; mv ${canary} stolen2; true`,
  },
  {
    ...grave,
    id: "write-removes",
    what: "removes files and folders outside",
    steps: ({ outside, home, canary }) =>
      `rm -f ${canary}; rm -rf ${outside} ${home}/.ssh ${home}/other-project; true`,
  },
  {
    ...grave,
    id: "write-metadata",
    what: "changes mode and time of a file outside",
    steps: ({ canary }) => `chmod 777 ${canary}; touch -d 2001-01-01 ${canary}; chown 12345 ${canary}; true`,
  },
  {
    ...grave,
    id: "write-truncate",
    what: "truncates a file outside by truncate, dd and open(2)",
    tools: ["python3"],
    steps: ({ canary }) =>
      `truncate -s 0 ${canary}; dd if=/dev/null of=${canary} 2>/dev/null\n${python(`
import os
try: os.truncate("${canary}", 1)
except OSError as e: print(e)
try: os.close(os.open("${canary}", os.O_RDONLY | os.O_TRUNC))
except OSError as e: print(e)`)}`,
  },
  {
    ...grave,
    id: "write-mmap",
    what: "writes through a shared mapping of a file outside",
    tools: ["python3"],
    steps: ({ canary }) =>
      python(`
import mmap
try:
    with open("${canary}", "r+b") as f: m = mmap.mmap(f.fileno(), 0); m[0:3] = b"XXX"; m.flush()
except OSError as e: print(e)`),
  },
  {
    ...grave,
    id: "write-tar",
    what: "unpacks an archive with absolute names and with links leading out",
    tools: ["tar", "python3"],
    steps: ({ outside }) =>
      `${python(`
import io, tarfile
with tarfile.open("evil.tar", "w") as t:
    link = tarfile.TarInfo("way"); link.type = tarfile.SYMTYPE; link.linkname = "${outside}"; t.addfile(link)
    for name in ("way/by-link", "${outside}/absolute", "../../../outside/dotdot"):
        entry = tarfile.TarInfo(name); entry.size = 2; t.addfile(entry, io.BytesIO(b"x\\n"))`)}tar -xPf evil.tar; rm -rf way; true`,
  },
  {
    ...grave,
    id: "write-home-dotfiles",
    what: "writes to start files in the user's home",
    steps: ({ home }) =>
      `for f in .bashrc .profile .zshrc .gitconfig .ssh/authorized_keys .config/autostart/x.desktop .local/bin/git; do mkdir -p $(dirname ${home}/$f); echo '# evil' >> ${home}/$f; done; true`,
  },
  {
    ...grave,
    id: "write-sibling-session",
    what: "writes to the folder of another session",
    steps: ({ scratch }) => `echo changed > ${scratch}/../sibling/note; echo new > ${scratch}/../new; true`,
  },
  {
    ...grave,
    id: "write-host-tmp",
    what: "writes to a folder in the host's /tmp",
    steps: ({ hostTmp }) => `mkdir -p ${hostTmp}; echo changed > ${hostTmp}/canary; true`,
  },
  machineWrite("write-etc", "/etc"),
  machineWrite("write-usr", "/usr/local/bin"),
  machineWrite("write-cron", "/etc/cron.d"),
  machineWrite("write-var-tmp", "/var/tmp"),
  machineWrite("write-tmp", "/tmp"),
  machineWrite("write-dev-shm", "/dev/shm"),
  machineWrite("write-root-folder", "/root"),
  machineWrite("write-systemd", "/etc/systemd/system"),
  machineWrite("write-boot", "/boot"),
];
