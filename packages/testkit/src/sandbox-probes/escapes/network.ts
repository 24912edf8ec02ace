/** Escapes: the network beyond the sandbox's own loopback. */
import { type EscapeProbe, told } from "../probe.ts";
import { python } from "../script-parts.ts";

const reached = { group: "network", isGrave: false, tools: ["python3"] } as const;

const tcp = (family: string, host: string, port: number): string =>
  python(`
import socket
try: s = socket.socket(socket.${family}); s.settimeout(3); s.connect(("${host}", ${port})); s.sendall(b"x"); print("connected", s.recv(20))
except OSError as e: print(e)`);

/** Connecting a datagram socket to an address sends nothing, and fails if there is no route. */
const routes = (hosts: readonly string[]): string =>
  python(`
import socket
for host in ${JSON.stringify(hosts)}:
    try: s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM); s.connect((host, 53)); print("ROUTE to", host, "from", s.getsockname()[0])
    except OSError as e: print(host, e)`);

const routed = told(/ROUTE to .*/);

/** Opening such a socket is enough: no command needs it. */
function opensSocket(id: string, what: string, expression: string): EscapeProbe {
  return {
    ...reached,
    id,
    what: `opens ${what}`,
    controlNeeds: ["root"],
    steps: python(`
import socket
try: s = ${expression}; print("OPENED", s.fileno())
except (OSError, AttributeError) as e: print(e)`),
    escaped: ({ output }) => (output.includes("OPENED") ? `opened ${what}` : undefined),
  };
}

export const network: readonly EscapeProbe[] = [
  {
    ...reached,
    id: "net-loopback",
    what: "connects to a server on the host's 127.0.0.1",
    steps: ({ listeners }) => tcp("AF_INET", "127.0.0.1", listeners.tcpPort),
  },
  {
    ...reached,
    id: "net-loopback-names",
    what: "connects to the host's loopback by its other spellings",
    steps: ({ listeners }) =>
      ["localhost", "0.0.0.0", "127.1", "2130706433"]
        .map((host) => tcp("AF_INET", host, listeners.tcpPort))
        .join("\n"),
  },
  {
    ...reached,
    id: "net-loopback-ipv6",
    what: "connects to a server on the host's ::1",
    needs: ["ipv6"],
    steps: ({ listeners }) => tcp("AF_INET6", "::1", listeners.tcpPort),
  },
  {
    ...reached,
    id: "net-mapped-ipv6",
    what: "connects to the host's loopback by an IPv4 address in IPv6",
    needs: ["ipv6"],
    steps: ({ listeners }) => tcp("AF_INET6", "::ffff:127.0.0.1", listeners.tcpPort),
  },
  {
    ...reached,
    id: "net-own-address",
    what: "connects to a server on another address of the host",
    needs: ["second-address"],
    steps: ({ listeners }) => tcp("AF_INET", listeners.address ?? "", listeners.tcpPort),
  },
  {
    ...reached,
    id: "net-udp",
    what: "sends a datagram to the host's loopback",
    steps: ({ listeners }) =>
      python(`
import socket, time
try: s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b"x", ("127.0.0.1", ${listeners.udpPort})); time.sleep(0.1)
except OSError as e: print(e)`),
  },
  {
    ...reached,
    id: "net-bash",
    what: "connects by the shell's own /dev/tcp",
    tools: [],
    steps: ({ listeners }) =>
      `exec 3<>/dev/tcp/127.0.0.1/${listeners.tcpPort} && echo hi >&3 && cat <&3; true`,
  },
  {
    ...reached,
    id: "net-metadata",
    what: "has a route to the cloud's metadata service",
    needs: ["second-address"],
    steps: routes(["169.254.169.254", "169.254.170.2", "100.100.100.200"]),
    escaped: routed,
  },
  {
    ...reached,
    id: "net-internet",
    what: "has a route to addresses of the internet",
    needs: ["second-address"],
    steps: routes(["8.8.8.8", "1.1.1.1", "203.0.113.7"]),
    escaped: routed,
  },
  {
    ...reached,
    id: "net-internet-ipv6",
    what: "has a route to IPv6 addresses of the internet and of the neighbourhood",
    noControl: "the machine may have no IPv6 route",
    steps: routes(["2001:4860:4860::8888", "fd00::1", "fe80::1%1"]),
    escaped: routed,
  },
  {
    ...reached,
    id: "net-private",
    what: "has a route to private networks",
    needs: ["second-address"],
    steps: routes(["10.0.0.1", "192.168.0.1", "172.17.0.1", "100.64.0.1"]),
    escaped: routed,
  },
  {
    ...reached,
    id: "net-dns",
    what: "resolves a name of the internet",
    noControl: "the machine may have no name server",
    tools: ["getent"],
    steps: "timeout 4 getent ahosts example.com; timeout 4 getent ahosts one.one.one.one; true",
    escaped: ({ output }) => (/^[0-9a-f:.]{7,}\s/m.test(output) ? "a name was resolved" : undefined),
  },
  {
    ...reached,
    id: "net-interfaces",
    what: "sees a network interface of the host",
    needs: ["second-address"],
    tools: [],
    steps: "cut -d: -f1 /proc/net/dev | tail -n +3; cat /proc/net/route /proc/net/tcp /proc/net/unix; true",
    escaped: ({ output, ground }) =>
      output.includes(`lathe-probe-${ground.tag}`) ? "the host's sockets are listed" : undefined,
  },
  {
    ...reached,
    id: "net-configure",
    what: "adds an address or an interface",
    needs: ["root"],
    noControl: "it would change the machine's network",
    tools: ["ip"],
    steps:
      "ip link add lathe0 type dummy && echo ADDED; ip tuntap add lathe1 mode tun && echo ADDED; ip link del lathe0; ip link del lathe1; true",
    escaped: ({ output }) => (output.includes("ADDED") ? "an interface was added" : undefined),
  },
  opensSocket(
    "net-raw-icmp",
    "a raw ICMP socket",
    "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)",
  ),
  opensSocket("net-raw-ipv6", "a raw IPv6 socket", "socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58)"),
  opensSocket("net-packet", "a packet socket", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)"),
  opensSocket(
    "net-vsock",
    "a socket to the hypervisor",
    "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)",
  ),
];
