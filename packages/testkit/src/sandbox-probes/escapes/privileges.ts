/** Escapes: gaining privileges, and leaving files that carry them. */
import { type EscapeProbe, told } from "../probe.ts";
import { syscalls } from "../script-parts.ts";

const grave = { group: "privileges", isGrave: true } as const;

const gained = told(/^GAINED.*/m);

export const privileges: readonly EscapeProbe[] = [
  {
    ...grave,
    id: "caps-effective",
    what: "has capabilities",
    controlNeeds: ["root"],
    steps:
      "grep -E '^Cap(Eff|Prm|Amb|Inh):' /proc/self/status | grep -v '0000000000000000' | sed 's/^/GAINED /'; true",
    escaped: gained,
  },
  {
    ...grave,
    isGrave: false,
    id: "caps-bounding",
    what: "could gain capabilities by a program that has them",
    steps:
      "b=$(grep CapBnd: /proc/self/status | tr -d 'CapBnd:\\t '); n=$(sed -n 's/^NoNewPrivs:\\t//p' /proc/self/status); echo $b $n; test \"$n\" = 1 || echo GAINED: new privileges are possible; true",
    escaped: gained,
  },
  {
    ...grave,
    id: "caps-set",
    what: "gives itself capabilities",
    tools: ["python3"],
    controlNeeds: ["root"],
    steps: () =>
      syscalls(`
import struct
head = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0)); data = ctypes.create_string_buffer(struct.pack("=6I", 0x200002, 0x200002, 0, 0, 0, 0))
got = call("capset", head, data); print(got)
if got == 0: print("GAINED capabilities")`),
    escaped: gained,
  },
  {
    ...grave,
    id: "setuid-chmod",
    what: "leaves setuid and setgid programs in the workspace",
    steps:
      "cp /bin/sh shell; chmod 4755 shell; cp /bin/sh shell2; chmod 2755 shell2; cp /bin/sh s3; chmod u+s,g+s s3; install -m 4755 /bin/sh s4; true",
  },
  {
    ...grave,
    id: "setuid-calls",
    what: "leaves a setuid program by the other system calls that set a mode",
    tools: ["python3"],
    steps: () =>
      syscalls(`
import shutil
def attempt(what):
    try: what()
    except OSError as e: print(e)
attempt(lambda: os.close(os.open("a", os.O_CREAT | os.O_WRONLY, 0o4755)))
shutil.copy("/bin/sh", "b"); fd = os.open("b", os.O_RDONLY)
attempt(lambda: os.fchmod(fd, 0o4755))
shutil.copy("/bin/sh", "c"); d = os.open(".", os.O_RDONLY)
attempt(lambda: os.chmod("c", 0o4755, dir_fd=d))
os.umask(0)
attempt(lambda: os.mknod("d", 0o104755))
shutil.copy("/bin/sh", "e"); print("fchmodat2", call(452, -100, b"e", 0o4755, 0))`),
  },
  {
    ...grave,
    id: "setuid-archive",
    what: "unpacks a setuid program from an archive",
    tools: ["tar", "python3"],
    steps: () =>
      `${syscalls(`
import io, tarfile
with tarfile.open("x.tar", "w") as t:
    e = tarfile.TarInfo("suid"); e.mode = 0o4755; e.size = 2; t.addfile(e, io.BytesIO(b"x\\n"))`)}tar -xpf x.tar; mkdir p; cd p; python3 -c 'import tarfile; tarfile.open("../x.tar").extractall()'; true`,
  },
  {
    ...grave,
    id: "setuid-scratch",
    what: "leaves a setuid program in its temporary folders",
    steps: 'for d in "$TMPDIR" "$HOME"; do mkdir -p $d; cp /bin/sh $d/shell; chmod 6755 $d/shell; done; true',
  },
  {
    ...grave,
    id: "setuid-two-commands",
    what: "leaves a setuid program in one command, having made it in another",
    steps: () => [
      { script: "cp /bin/sh shell" },
      { script: "chmod 4755 shell; true" },
      { script: "ls -l shell" },
    ],
  },
  {
    ...grave,
    id: "setcap-file",
    what: "leaves a program with capabilities",
    tools: ["setcap", "getcap"],
    controlNeeds: ["root"],
    steps:
      "cp /bin/sh shell; setcap cap_setuid,cap_sys_admin+ep shell; getcap shell | sed 's/^/GAINED /'; true",
    escaped: gained,
  },
  {
    ...grave,
    id: "setuid-run",
    what: "becomes another user by a setuid program or a system call",
    needs: ["ordinary-user"],
    tools: ["python3"],
    noControl: "an ordinary user cannot become another without a password",
    steps: () =>
      syscalls(`
for name, change in (("setuid", lambda: os.setuid(0)), ("setgid", lambda: os.setgid(0)), ("setgroups", lambda: os.setgroups([0])), ("setresuid", lambda: os.setresuid(0, 0, 0))):
    try: change(); print("GAINED by", name)
    except OSError as e: print(e)`),
    escaped: gained,
  },
  {
    ...grave,
    isGrave: false,
    id: "change-owner",
    what: "gives a file of the workspace to another user",
    needs: ["root"],
    steps: "echo x > mine; chown 12345:12345 mine; stat -c 'owner %u' mine; true",
    escaped: ({ output }) => (output.includes("owner 12345") ? "a file has another owner" : undefined),
  },
  {
    ...grave,
    isGrave: false,
    id: "priority",
    what: "takes the processor from others: real-time scheduling, a negative nice value",
    tools: ["python3"],
    controlNeeds: ["root"],
    steps: () =>
      syscalls(`
try: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); print("GAINED real-time scheduling"); os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
except OSError as e: print(e)
try: print("GAINED nice value" if os.nice(-5) < 0 else "same")
except OSError as e: print(e)`),
    escaped: gained,
  },
  {
    ...grave,
    isGrave: false,
    id: "out-of-memory-score",
    weakControl: "root may lack the capability on machines that are containers themselves",
    what: "makes itself the last to be ended when memory runs out",
    controlNeeds: ["root"],
    steps:
      "echo -1000 > /proc/self/oom_score_adj && grep -q -- -1000 /proc/self/oom_score_adj && echo GAINED protection from the out-of-memory killer; true",
    escaped: gained,
  },
];
