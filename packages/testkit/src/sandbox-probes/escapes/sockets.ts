/** Escapes: servers of the host that listen on unix sockets. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { EscapeProbe } from "../probe.ts";
import { python } from "../script-parts.ts";

const grave = { group: "sockets", isGrave: true, tools: ["python3"] } as const;

const connect = (address: string): string => `
import socket
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    try:
        s = socket.socket(socket.AF_UNIX, kind); s.settimeout(2); s.connect(${address}); s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
        print("connected", s.recv(50) if kind == socket.SOCK_STREAM else "")
    except OSError as e: print(e)`;

export const sockets: readonly EscapeProbe[] = [
  {
    ...grave,
    id: "socket-path",
    what: "connects to a unix socket outside, as a container daemon's",
    steps: ({ listeners }) => python(connect(`"${listeners.socketPath}"`)),
  },
  {
    ...grave,
    id: "socket-agent",
    what: "connects to the ssh agent's socket in the home",
    steps: ({ listeners }) => python(connect(`"${listeners.agentPath}"`)),
  },
  {
    ...grave,
    id: "socket-abstract",
    what: "connects to an abstract unix socket",
    steps: ({ listeners }) => python(connect(`"\\0${listeners.abstractName}"`)),
  },
  {
    ...grave,
    id: "socket-by-old-link",
    what: "connects by a link in the workspace that leads to a socket outside",
    setup: ({ workspace, listeners }) => symlinkSync(listeners.socketPath, join(workspace, "docker.sock")),
    steps: () => python(connect(`"docker.sock"`)),
  },
  {
    ...grave,
    id: "socket-by-proc",
    what: "connects by /proc/PID/root to a socket outside",
    steps: ({ listeners, harnessPid, sleeper }) =>
      [1, harnessPid, sleeper.pid]
        .map((pid) => python(connect(`"/proc/${pid}/root${listeners.socketPath}"`)))
        .join("\n"),
  },
  {
    ...grave,
    id: "socket-machine",
    what: "connects to the machine's own sockets: containers, buses, snaps, terminals",
    noControl: "which of them exist is the machine's affair, and they are not to be disturbed",
    steps: () =>
      python(`
import glob, socket
for path in glob.glob("/run/*.sock") + glob.glob("/run/*/*.sock") + ["/run/dbus/system_bus_socket", "/var/run/docker.sock"] + glob.glob("/run/user/*/bus") + glob.glob("/tmp/.X11-unix/*") + glob.glob("/tmp/tmux-*/*"):
    try: s = socket.socket(socket.AF_UNIX); s.settimeout(2); s.connect(path); print("REACHED", path)
    except OSError as e: print(path, e)`),
    escaped: ({ output }) => /REACHED .*/.exec(output)?.[0],
  },
];
