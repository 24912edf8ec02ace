/** Must work: files, the loopback, processes and the clock. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Ground, write } from "../ground.ts";
import type { WorkProbe } from "../probe.ts";
import { python } from "../script-parts.ts";

const work = { group: "machine" } as const;

const nodeServer = `require("http").createServer((q, r) => r.end("served")).listen(PORT, "HOST", () => console.log("ready"))`;
const server = (port: number, host = "127.0.0.1"): string =>
  `node -e '${nodeServer.replace("PORT", String(port)).replace("HOST", host)}'`;
const fetches = (port: number, host = "127.0.0.1"): string =>
  `node -e 'fetch("http://${host}:${port}/").then((r) => r.text()).then((t) => { console.log("fetched " + t); process.exit(0) })'`;
const waitFor = (port: number): string =>
  `for i in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && break; sleep 0.05; done`;

export const machineWork: readonly WorkProbe[] = [
  {
    ...work,
    id: "work-server",
    what: "serves and fetches on 127.0.0.1 in one command",
    tools: ["node"],
    steps: `${server(45871)} & ${waitFor(45871)}; ${fetches(45871)}; kill %1`,
    says: "fetched served",
  },
  {
    ...work,
    id: "work-server-two-commands",
    what: "reaches from one command the server that a background one started",
    needs: ["shared-loopback"],
    tools: ["node"],
    steps: () => [
      { script: server(45872), background: "ready" },
      { script: fetches(45872) },
      { script: fetches(45872, "localhost") },
    ],
    says: /fetched served\nfetched served/,
  },
  {
    ...work,
    id: "work-server-any-address",
    what: "serves on all addresses and on ::1",
    tools: ["node"],
    steps: `${server(45873, "0.0.0.0")} & ${waitFor(45873)}; ${fetches(45873)}; kill %1; node -e 'const s = require("net").createServer((c) => c.end()).listen(45874, "::1", () => { console.log("six"); s.close() }).on("error", (e) => { console.log(e.code === "EADDRNOTAVAIL" || e.code === "EAFNOSUPPORT" ? "six" : e.code) })'`,
    says: /fetched served[\s\S]*six/,
  },
  {
    ...work,
    id: "work-python-server",
    what: "python serves a folder, curl fetches from it",
    tools: ["python3", "curl"],
    steps: `echo content > f; python3 -m http.server 45875 --bind 127.0.0.1 >/dev/null 2>&1 & ${waitFor(45875)}; curl -s http://127.0.0.1:45875/f; curl -s http://localhost:45875/f; kill %1`,
    says: /content\ncontent/,
  },
  {
    ...work,
    id: "work-udp",
    what: "sends datagrams to itself",
    tools: ["python3"],
    steps: python(`
import socket
a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind(("127.0.0.1", 0)); a.settimeout(3)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"datagram", a.getsockname()); print(a.recv(20))`),
    says: "datagram",
  },
  {
    ...work,
    id: "work-unix-sockets",
    what: "serves and connects on unix sockets: in the workspace, in /tmp, abstract, in pairs",
    tools: ["python3"],
    steps: python(`
import os, socket
for path in ("./s.sock", "/tmp/lathe-s.sock", "\\0lathe-abstract"):
    s = socket.socket(socket.AF_UNIX); s.bind(path); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect(path); c.sendall(b"x"); print("unix", s.accept()[0].recv(1))
    if path[0] != "\\0": os.unlink(path)
a, b = socket.socketpair(); a.sendall(b"pair"); print(b.recv(9))`),
    says: /unix[\s\S]*unix[\s\S]*unix[\s\S]*pair/,
  },
  {
    ...work,
    id: "work-socket-two-commands",
    what: "reaches by a unix socket in /tmp the server of a background command",
    tools: ["python3"],
    steps: () => [
      {
        script: python(`
import socket
s = socket.socket(socket.AF_UNIX); s.bind("/tmp/lathe-two.sock"); s.listen(); print("ready", flush=True)
s.accept()[0].sendall(b"from the other command")`),
        background: "ready",
      },
      {
        script: python(`
import socket
c = socket.socket(socket.AF_UNIX); c.connect("/tmp/lathe-two.sock"); print(c.recv(50))`),
      },
    ],
    says: "from the other command",
  },
  {
    ...work,
    id: "work-names",
    what: "knows localhost and its own name",
    tools: ["getent"],
    steps:
      "getent hosts localhost; hostname >/dev/null && echo named; id -un; getent passwd $(id -u) | wc -l; whoami",
    says: /localhost[\s\S]*named/,
  },
  {
    ...work,
    id: "work-odd-workspace",
    what: "works in a folder with spaces, quotes and letters of other scripts in its name",
    workspaceName: "mein Projekt 'ü' 日本 $HOME",
    steps:
      'pwd; echo x > "a b"; cat "a b"; git init -q . && git status --short; mkdir -p "ü/ß" && cd "ü/ß" && pwd',
    says: "日本",
  },
  {
    ...work,
    id: "work-var-tmp-workspace",
    what: "works in a workspace below /var/tmp",
    setup: (ground) => mkdirSync(inVarTmp(ground), { recursive: true }),
    spec: (ground) => ({ workspace: inVarTmp(ground) }),
    steps: (ground) => [{ script: "pwd; echo made > f; cat f", cwd: inVarTmp(ground) }],
    says: "made",
    restore: (ground) => rmSync(dirname(inVarTmp(ground)), { recursive: true, force: true }),
  },
  {
    ...work,
    id: "work-locks",
    what: "locks files, in one command and between processes",
    tools: ["flock"],
    steps:
      "flock l echo locked; (flock -x 9; sleep 0.2) 9>l & sleep 0.05; flock -n l echo free || echo taken; wait",
    says: /locked\ntaken/,
  },
  {
    ...work,
    id: "work-inotify",
    what: "is told of changes by inotify",
    tools: ["python3"],
    steps: python(`
import ctypes, os
libc = ctypes.CDLL(None); fd = libc.inotify_init(); libc.inotify_add_watch(fd, b".", 0x100); open("new-file", "w").close(); print(os.read(fd, 500)[16:].rstrip(b"\\0"))`),
    says: "new-file",
  },
  {
    ...work,
    id: "work-file-kinds",
    what: "makes links of both kinds, holes, pipes, and runs what it marks executable",
    steps:
      "echo x > f; ln f hard; ln -s f soft; cat hard soft; truncate -s 50M holes; stat -c %s holes; sync f; printf '#!/bin/sh\\necho ran\\n' > s; chmod +x s; ./s; mv f g; cat hard; touch -d 2020-01-01 g; stat -c %y g | cut -c1-4; rm -r g hard soft",
    says: /x\nx\n52428800\nran\nx\n2020/,
  },
  {
    ...work,
    id: "work-many-files",
    what: "writes 5,000 files and a deep tree",
    steps:
      "mkdir d; for i in $(seq 5000); do echo $i > d/$i; done; ls d | wc -l; p=.; for i in $(seq 60); do p=$p/deep$i; done; mkdir -p $p; echo x > $p/f; find . -name f | wc -l; rm -rf d",
    says: /5000\n1/,
  },
  {
    ...work,
    id: "work-seen-by-host",
    what: "leaves files that belong to the user and are seen by the host at once",
    steps: "mkdir -p a/b; echo text > a/b/c; chmod 644 a/b/c",
    broken: ({ ground }) => ownership(ground),
  },
  {
    ...work,
    id: "work-sees-host",
    what: "sees what the host wrote to the workspace before",
    setup: ({ workspace }) => write(join(workspace, "given/file"), "given\n"),
    steps: "cat given/file; echo more >> given/file; rm given/file; rmdir given",
    says: "given",
  },
  {
    ...work,
    id: "work-big-file",
    what: "writes a file of 1 GB",
    steps: "fallocate -l 1G big || head -c 1073741824 /dev/zero > big; stat -c %s big; rm big",
    says: "1073741824",
  },
  {
    ...work,
    id: "work-memory",
    what: "uses 1.5 GB of memory",
    tools: ["python3"],
    steps: python(`
part = bytearray(1536 << 20)
for at in range(0, len(part), 4096): part[at] = 1
print("held", len(part))`),
    says: "held",
  },
  {
    ...work,
    id: "work-processes",
    what: "runs 200 processes and 100 threads at once",
    tools: ["python3"],
    steps: `for i in $(seq 200); do sleep 0.5 & done; jobs -p | wc -l; wait\n${python(`
import threading
e = threading.Event(); t = [threading.Thread(target=e.wait) for _ in range(100)]
for x in t: x.start()
e.set()
for x in t: x.join()
print("threads", len(t))`)}`,
    says: /200\nthreads 100/,
  },
  {
    ...work,
    id: "work-descriptors",
    what: "has 900 files open at once",
    tools: ["python3"],
    steps: python(`
held = [open("/dev/null") for _ in range(900)]; print("open", len(held))`),
    says: "open 900",
  },
  {
    ...work,
    id: "work-devices",
    what: "uses the usual devices",
    steps:
      "echo x > /dev/null; head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c; head -c 4 /dev/random | wc -c; echo x > /dev/full || echo full; test -d /dev/shm && echo y > /dev/shm/lathe-w && cat /dev/shm/lathe-w && rm /dev/shm/lathe-w; ls /dev/pts >/dev/null && echo pts",
    says: /4\n4\n4\n[\s\S]*full\ny\npts/,
  },
  {
    ...work,
    id: "work-proc",
    what: "looks at itself in /proc, and at its own processes",
    tools: ["ps"],
    steps:
      "cat /proc/self/comm; readlink /proc/self/exe >/dev/null && echo exe; ls /proc/self/fd >/dev/null && echo fd; sleep 3 & ps -o comm= -p $! ; ps -o pid= --ppid $$ | grep -cw $!; kill $!; nproc; cat /proc/meminfo | head -1; cat /proc/cpuinfo | head -1; uname -s; uptime >/dev/null; free -m | head -1",
    says: /cat\nexe\nfd\nsleep\n1\n\d+\nMemTotal/,
  },
  {
    ...work,
    id: "work-clock",
    what: "tells the time, in zones and languages",
    steps:
      "date +%Y; TZ=Asia/Tokyo date -d @0 +%H; LC_ALL=C.UTF-8 locale charmap; printf '%s\\n' ü | wc -m; sleep 0.01; date -u -d 2001-02-03 +%A",
    says: /20\d\d\n09\nUTF-8[\s\S]*Saturday/,
  },
  {
    ...work,
    id: "work-openssl",
    what: "makes hashes, keys and certificates",
    tools: ["openssl"],
    steps:
      "echo x | sha256sum | cut -c1-8; openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out c -days 1 -subj /CN=x 2>/dev/null; openssl x509 -in c -noout -subject; echo x | openssl dgst -md5 | tail -c 8; ls /etc/ssl/certs | head -1 | wc -l",
    says: "CN",
  },
  {
    ...work,
    id: "work-parallel-commands",
    what: "goes on in one command while another runs in the background",
    steps: () => [
      {
        script: "echo begun; while [ ! -e stop ]; do sleep 0.02; done; echo stopped > answer",
        background: "begun",
      },
      { script: "touch stop; for i in $(seq 100); do [ -e answer ] && break; sleep 0.05; done; cat answer" },
    ],
    says: "stopped",
  },
];

const inVarTmp = ({ tag }: Ground): string => `/var/tmp/lathe-probe-${tag}/workspace`;

function ownership({ workspace }: Ground): string | undefined {
  const path = join(workspace, "a/b/c");
  if (readFileSync(path, "utf8") !== "text\n") return "the text is another";
  const { stdout } = spawnSync("stat", ["-c", "%u %a", path], { encoding: "utf8" });
  return stdout.trim() === `${process.getuid?.()} 644` ? undefined : `owner and mode are ${stdout}`;
}
