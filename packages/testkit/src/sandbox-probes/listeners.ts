/** Servers on the host that no command must reach: each records its visitors. */
import { createSocket, type Socket } from "node:dgram";
import { mkdirSync } from "node:fs";
import { createServer, type Socket as NetSocket, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { dirname, join } from "node:path";

export interface Listeners {
  readonly tcpPort: number;
  /** The same port on another address of this machine; absent if there is none. */
  readonly address: string | undefined;
  readonly hasIpv6: boolean;
  readonly udpPort: number;
  readonly socketPath: string;
  /** A socket in the home, like that of a key agent. */
  readonly agentPath: string;
  /** Name without the leading NUL byte. */
  readonly abstractName: string;
  /** The servers that were reached, in order. */
  readonly visits: readonly string[];
  /** *Contract:* idempotent. */
  close(): Promise<void>;
}

interface Places {
  readonly home: string;
  readonly outside: string;
  readonly tag: string;
}

export async function startListeners({ home, outside, tag }: Places): Promise<Listeners> {
  const visits: string[] = [];
  const servers: Server[] = [];
  const sockets: NetSocket[] = [];
  const listen = async (
    name: string,
    where: { port?: number; host?: string; path?: string },
  ): Promise<number> => {
    const server = createServer((socket) => {
      visits.push(`a connection to ${name}`);
      sockets.push(socket);
      socket.on("error", () => socket.destroy());
      socket.end("HTTP/1.0 200 OK\r\n\r\nhost\n");
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(where, resolve);
    });
    servers.push(server);
    const bound = server.address();
    return typeof bound === "object" && bound !== null ? bound.port : 0;
  };
  const optional = async (name: string, where: { port?: number; host?: string }): Promise<boolean> =>
    listen(name, where).then(
      () => true,
      () => false,
    );
  const tcpPort = await listen("the host's 127.0.0.1", { port: 0, host: "127.0.0.1" });
  const address = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
  const hasAddress =
    address !== undefined && (await optional(`the host's ${address}`, { port: tcpPort, host: address }));
  const hasIpv6 = await optional("the host's ::1", { port: tcpPort, host: "::1" });
  const [socketPath, agentPath] = [join(outside, "docker.sock"), join(home, ".ssh", "agent.sock")];
  for (const path of [socketPath, agentPath]) {
    mkdirSync(dirname(path), { recursive: true });
    await listen(`the unix socket ${path}`, { path });
  }
  const abstractName = `lathe-probe-${tag}`;
  await listen("the abstract unix socket", { path: `\0${abstractName}` });
  const udp = createSocket("udp4").on("message", () => visits.push("a datagram to the host's 127.0.0.1"));
  await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
  return {
    tcpPort,
    address: hasAddress ? address : undefined,
    hasIpv6,
    udpPort: udp.address().port,
    socketPath,
    agentPath,
    abstractName,
    visits,
    close: async () => {
      for (const socket of sockets.splice(0)) socket.destroy();
      await closeAll(servers, udp);
    },
  };
}

async function closeAll(servers: Server[], udp: Socket): Promise<void> {
  const open = servers.splice(0);
  if (open.length === 0) return;
  await Promise.all(open.map((server) => new Promise((resolve) => server.close(resolve))));
  await new Promise<void>((resolve) => udp.close(resolve));
}
