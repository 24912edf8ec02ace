/** Escapes: reaching the host's files through /proc and descriptors. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EscapeProbe } from "../probe.ts";
import { python } from "../script-parts.ts";

const grave = { group: "proc", isGrave: true } as const;

export const procPaths: readonly EscapeProbe[] = [
  {
    ...grave,
    id: "proc-self-root",
    what: "writes by /proc/self/root and /proc/self/cwd/..",
    steps: ({ canary, outside }) =>
      `echo changed > /proc/self/root${canary}; echo new > /proc/self/root${outside}/new; echo new > /proc/self/cwd/../../../outside/new; true`,
  },
  {
    ...grave,
    id: "proc-any-root",
    what: "writes by the root folder of every process it sees",
    steps: ({ outside }) =>
      `for p in /proc/[0-9]*; do echo new > $p/root${outside}/new-root; done 2>/dev/null; true`,
  },
  {
    ...grave,
    id: "proc-any-cwd",
    what: "writes by the working folder of every process it sees",
    steps: ({ outside }) =>
      `for p in /proc/[0-9]*; do for up in .. ../.. ../../.. ../../../.. ../../../../.. ../../../../../..; do echo new > $p/cwd/$up${outside}/new-cwd; done; done 2>/dev/null; true`,
  },
  {
    ...grave,
    id: "proc-named-pids",
    what: "writes by the root and working folder of the harness and of a host process, by their numbers",
    steps: ({ outside, harnessPid, sleeper }) =>
      `for p in ${harnessPid} ${sleeper.pid} 1; do echo new > /proc/$p/root${outside}/new; echo new > /proc/$p/task/$p/root${outside}/new; done; true`,
  },
  {
    ...grave,
    id: "fd-inherited-file",
    what: "writes to a descriptor that the harness inherited and left open",
    needs: ["inherited"],
    steps: ({ inheritance }) =>
      `echo changed >&${inheritance?.fileFd}; for f in /proc/self/fd/*; do readlink $f; done; true`,
    escaped: ({ ground: { inheritance } }) =>
      inheritance === undefined ||
      readFileSync(join(inheritance.folder, "file"), "utf8").trim() === inheritance.secret
        ? undefined
        : "the inherited file was changed",
    restore: ({ inheritance }) => {
      if (inheritance !== undefined)
        writeFileSync(join(inheritance.folder, "file"), `${inheritance.secret}\n`);
    },
  },
  {
    ...grave,
    id: "fd-inherited-folder",
    what: "makes a file below a folder that is open in a descriptor the harness inherited",
    needs: ["inherited"],
    steps: ({ inheritance, tag }) => `echo new > /proc/self/fd/${inheritance?.folderFd}/new-${tag}; true`,
    escaped: ({ ground }) => madeInInherited(ground.inheritance?.folder, ground.tag),
    restore: ({ inheritance, tag }) => removeInherited(inheritance?.folder, tag),
  },
  {
    ...grave,
    id: "fd-every-folder",
    what: "climbs out of every folder that is open in any descriptor",
    noControl: "without a sandbox no folder need be open; the inherited one has a probe of its own",
    tools: ["python3"],
    steps: ({ outside, canary }) =>
      python(`
import os, stat
for fd in range(3, 4096):
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode): continue
    except OSError: continue
    print("folder open at", fd)
    for up in range(12):
        try:
            made = os.open("../" * up + "${outside}/new"[1:], os.O_CREAT | os.O_WRONLY, dir_fd=fd); print("made", made)
        except OSError: pass
try: os.chdir("/"); os.chroot("."); print("chroot")
except (OSError, PermissionError) as e: print(e)
try: open("${canary}", "a").write("x")
except OSError as e: print(e)`),
  },
];

function madeInInherited(folder: string | undefined, tag: string): string | undefined {
  return folder !== undefined && existsSync(`${folder}/new-${tag}`) ? `made ${folder}/new-${tag}` : undefined;
}

function removeInherited(folder: string | undefined, tag: string): void {
  if (folder !== undefined) rmSync(`${folder}/new-${tag}`, { force: true });
}
