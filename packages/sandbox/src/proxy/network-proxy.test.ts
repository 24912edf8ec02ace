/** The proxy with real sockets and real programs: what gets out, and what does not. */
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { after, afterEach, before, describe, it } from "node:test";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import { isFailure } from "@lathe/protocol";
import fc from "fast-check";
import { type HostRule, parseHostRule } from "./host-rule.ts";
import { helloOf, inRecords } from "./made-hello.ts";
import { createNetworkProxy, type NetworkProxy } from "./network-proxy.ts";
import type { NetworkDecision, ProxyLimits } from "./proxy-core.ts";
import { proxyEnv } from "./proxy-env.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "lathe-proxy-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const has = (program: string): boolean => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const curl = "curl";
const missingCurl = has(curl) ? false : "curl is not installed";
const openssl = "openssl";
const missingOpenssl = has(openssl) ? false : "openssl is not installed: no certificate can be made";

interface Scene {
  readonly proxy: NetworkProxy;
  readonly path: string;
  readonly decisions: NetworkDecision[];
  /** Addresses and ports that were dialled. */
  readonly dialled: string[];
  readonly looked: string[];
}

interface SceneOptions {
  readonly rules?: readonly string[];
  /** Addresses by name; 93.184.216.34 when absent. */
  readonly names?: Readonly<Record<string, readonly string[] | (() => readonly string[])>>;
  /** The listener that stands for every address. */
  readonly server?: Server;
  readonly limits?: Partial<ProxyLimits>;
  readonly dial?: (address: string, port: number) => Promise<Duplex>;
}

const open: { close(): unknown }[] = [];
let count = 0;

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function parsed(texts: readonly string[]): readonly HostRule[] {
  return texts.map((text) => {
    const rule = parseHostRule(text);
    if (isFailure(rule)) throw new Error(rule.text);
    return rule;
  });
}

async function scene({
  rules = ["allowed.example"],
  names = {},
  server,
  limits = {},
  dial,
}: SceneOptions = {}): Promise<Scene> {
  const decisions: NetworkDecision[] = [];
  const dialled: string[] = [];
  const looked: string[] = [];
  const kept = parsed(rules);
  const proxy = createNetworkProxy({
    rules: () => kept,
    now: () => 1,
    onDecision: (decision) => void decisions.push(decision),
    resolve: async (name) => {
      looked.push(name);
      const found = names[name] ?? ["93.184.216.34"];
      return typeof found === "function" ? found() : found;
    },
    dial: async (address, port) => {
      dialled.push(`${address}:${port}`);
      if (dial) return dial(address, port);
      if (!server) throw Object.assign(new Error("nobody there"), { code: "ECONNREFUSED" });
      const socket = connect({
        port: (server.address() as AddressInfo).port,
        host: "127.0.0.1",
        allowHalfOpen: true,
      });
      await once(socket, "connect");
      return socket;
    },
    own: () => ["8.8.4.4"],
    limits,
  });
  count += 1;
  const path = join(folder, `p${count}`);
  assert.equal(await proxy.listen(path), undefined);
  open.push(proxy);
  return { proxy, path, decisions, dialled, looked };
}

async function listening(server: Server): Promise<Server> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("close", () => sockets.delete(socket));
  });
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return server;
}

/** Answers each request with what it was. */
function echoHttp(): Promise<Server> {
  const server = createHttpServer((message: IncomingMessage, response) => {
    const hash = createHash("sha256");
    let bytes = 0;
    message.on("data", (chunk: Buffer) => {
      hash.update(chunk);
      bytes += chunk.length;
    });
    message.on("end", () => {
      const { method, url, rawHeaders } = message;
      response.end(JSON.stringify({ method, url, rawHeaders, bytes, hash: hash.digest("hex") }));
    });
  });
  return listening(server);
}

/** Sends back every byte. */
function echoTcp(): Promise<Server> {
  return listening(createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)));
}

/** Sends bytes (in pieces where several are given) and gives everything that comes until the end. */
async function talk(path: string, ...pieces: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect(path).on("error", () => {});
  for (const piece of pieces) {
    socket.write(typeof piece === "string" ? Buffer.from(piece, "latin1") : piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  await once(socket, "close");
  return text;
}

/** A tunnel through the proxy, once it is open. */
async function tunnel(path: string, target: string): Promise<Socket> {
  const socket = connect(path).on("error", () => {});
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const [first] = (await once(socket, "data")) as [Buffer];
  assert.match(first.toString(), /^HTTP\/1\.1 200 /);
  socket.pause();
  socket.unshift(first.subarray(first.indexOf("\r\n\r\n") + 4));
  return socket;
}

const connectTo = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;

function socksTo(host: string | Buffer, port: number): Buffer {
  const name = Buffer.from(host);
  return Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length, ...name, port >> 8, port & 255]);
}

describe("refusals", () => {
  it("name the host and the rule that would allow it", async () => {
    const { path, decisions, dialled, looked } = await scene();
    const answer = await talk(path, connectTo("Evil.example:443"));
    assert.match(answer, /^HTTP\/1\.1 403 evil\.example is not allowed by the sandbox's network rules\r\n/);
    assert.match(
      answer,
      /evil\.example:443 is not on the list of allowed hosts\. The user can allow it with the network rule evil\.example\.\n$/,
    );
    assert.deepEqual([dialled, looked], [[], []]);
    assert.deepEqual(decisions, [
      {
        at: 1,
        host: "evil.example",
        port: 443,
        protocol: "connect",
        verdict: "refused",
        why: "evil.example:443 is not on the list of allowed hosts",
        remedy: "evil.example",
      },
    ]);
  });

  it("are the same for plain requests and SOCKS", async () => {
    const { path, decisions, dialled } = await scene();
    const plain = await talk(
      path,
      "GET http://evil.example:8080/x HTTP/1.1\r\nHost: evil.example:8080\r\n\r\n",
    );
    assert.match(plain, /^HTTP\/1\.1 403 [\s\S]*the network rule evil\.example:8080\./);
    const socks = await talk(path, socksTo("evil.example", 443));
    assert.equal(Buffer.from(socks, "latin1").toString("hex"), `0500${"05020001000000000000"}`);
    assert.deepEqual(
      decisions.map(({ protocol, verdict }) => [protocol, verdict]),
      [
        ["http", "refused"],
        ["socks5", "refused"],
      ],
    );
    assert.deepEqual(dialled, []);
  });

  for (const [name, target] of [
    ["a NUL byte", "evil.example\0.allowed.example:443"],
    ["another spelling of an address", "0x7f.1:443"],
    ["a user name", "allowed.example@evil.example:443"],
    ["a percent sign", "evil.example%00.allowed.example:443"],
    ["a port of its own", "allowed.example:22"],
    ["no port", "allowed.example"],
  ] as const) {
    it(`meet ${name}`, async () => {
      const { path, dialled, looked } = await scene({ rules: ["allowed.example", "*.allowed.example"] });
      assert.match(await talk(path, connectTo(target)), /^HTTP\/1\.1 4\d\d /);
      if (!target.includes(" ")) await talk(path, socksTo(target.replace(/:\d+$/, ""), 22));
      assert.deepEqual([dialled, looked], [[], []]);
    });
  }

  it("meet every spelling that is not the allowed host, whatever the protocol", async () => {
    const { path, dialled, looked } = await scene({ rules: ["allowed.example", "*.deep.example"] });
    const evil = fc.constantFrom(
      "evil.com",
      "127.0.0.1",
      "169.254.169.254",
      "allowed.example.evil.com",
      "evilallowed.example",
    );
    const joint = fc.constantFrom(
      "",
      ".",
      "\0",
      "%00",
      "@",
      " ",
      "\t",
      "\r\n",
      "/",
      "\\",
      "#",
      "?",
      ":",
      "..",
      "\u3002",
      "\uff0e",
      "\u00ad",
      "[",
      "]",
    );
    const tail = fc.constantFrom("", "allowed.example", ".allowed.example", ".deep.example", "deep.example");
    const spelling = fc.oneof(
      fc.tuple(evil, joint, tail).map((parts) => parts.join("")),
      fc.string({ unit: "binary", maxLength: 60 }),
    );
    await fc.assert(
      fc.asyncProperty(spelling, fc.constantFrom("connect", "http", "socks"), async (host, protocol) => {
        const bytes = Buffer.from(host).subarray(0, 255);
        if (protocol === "socks") await talk(path, socksTo(bytes, 443));
        else if (protocol === "connect")
          await talk(
            path,
            Buffer.concat([
              Buffer.from("CONNECT "),
              bytes,
              Buffer.from(":443 HTTP/1.1\r\nHost: allowed.example\r\n\r\n"),
            ]),
          );
        else
          await talk(
            path,
            Buffer.concat([
              Buffer.from("GET http://"),
              bytes,
              Buffer.from("/ HTTP/1.1\r\nHost: allowed.example\r\nConnection: close\r\n\r\n"),
            ]),
          );
        // Only a real name below the rule's may be looked at at all.
        const outside = looked.filter(
          (name) => name !== "allowed.example" && !/^[a-z0-9_.-]+\.deep\.example$/.test(name),
        );
        assert.deepEqual(outside, []);
        assert.ok(dialled.every((one) => one.startsWith("93.184.216.34:")));
      }),
      { numRuns: 400 },
    );
  });
});

describe("addresses", () => {
  it("are looked up once; the one that was checked is dialled", async () => {
    let times = 0;
    const rebinding = (): readonly string[] => (times++ === 0 ? ["93.184.216.34"] : ["127.0.0.1"]);
    const server = await echoHttp();
    const { path, dialled, looked } = await scene({ names: { "allowed.example": rebinding }, server });
    assert.match(
      await talk(path, "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n"),
      / 200 /,
    );
    assert.deepEqual([looked, dialled], [["allowed.example"], ["93.184.216.34:80"]]);
    assert.match(
      await talk(path, connectTo("allowed.example:443")),
      /403 [\s\S]*resolves to 127\.0\.0\.1, which is not public \(loopback\)\. The user can allow it with the network rule allowed\.example:443\./,
    );
    assert.equal(dialled.length, 1);
  });

  it("are refused all when one of them is private", async () => {
    const { path, dialled, decisions } = await scene({
      names: { "allowed.example": ["93.184.216.34", "10.0.0.5"] },
    });
    assert.match(
      await talk(path, connectTo("allowed.example:443")),
      /403 [\s\S]*10\.0\.0\.5, which is not public/,
    );
    assert.deepEqual(dialled, []);
    assert.equal(decisions[0]?.address, "10.0.0.5");
  });

  it("that are private need a rule with host and port, or the address; metadata only the address", async () => {
    const names = {
      "inner.example": ["10.0.0.5"],
      "own.example": ["8.8.4.4"],
      "cloud.example": ["169.254.169.254"],
    };
    const rules = [
      "own.example",
      "inner.example:443",
      "*.inner.example:443",
      "cloud.example:443",
      "127.0.0.1:443",
      "169.254.169.254:443",
    ];
    const { path, dialled } = await scene({ rules, names });
    for (const host of ["inner.example", "own.example", "cloud.example", "127.0.0.1", "169.254.169.254"]) {
      await talk(path, connectTo(`${host}:443`));
    }
    assert.deepEqual(dialled, ["10.0.0.5:443", "127.0.0.1:443", "169.254.169.254:443"]);
  });

  it("are tried in turn, IPv4 first, and the failure says which", async () => {
    const names = { "allowed.example": ["2606:4700::1", "93.184.216.34"] };
    const { path, dialled } = await scene({ names });
    assert.match(
      await talk(path, connectTo("allowed.example:443")),
      /^HTTP\/1\.1 502 allowed\.example cannot be reached[\s\S]*ECONNREFUSED/,
    );
    assert.deepEqual(dialled, ["93.184.216.34:443", "2606:4700::1:443"]);
  });

  it("that do not exist are the network's failure, not a refusal", async () => {
    const { path, decisions } = await scene({ names: { "allowed.example": [] } });
    assert.match(
      await talk(path, connectTo("allowed.example:443")),
      /^HTTP\/1\.1 502 [\s\S]*does not resolve/,
    );
    assert.equal(decisions[0]?.verdict, "failed");
  });
});

describe("TLS in tunnels", () => {
  const cert = join(folder, "cert.pem");
  const key = join(folder, "key.pem");
  before(() => {
    if (missingOpenssl) return;
    const subject = [
      "-subj",
      "/CN=allowed.example",
      "-addext",
      "subjectAltName=DNS:allowed.example,DNS:other.example",
    ];
    const made = spawnSync(openssl, [
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-days",
      "2",
      "-keyout",
      key,
      "-out",
      cert,
      ...subject,
    ]);
    assert.equal(made.status, 0, String(made.stderr));
  });
  const https = (): Promise<Server> => {
    const server = createHttpsServer(
      { cert: readFileSync(cert), key: readFileSync(key) },
      (message, response) => response.end(`hello ${message.url}`),
    );
    return listening(server as unknown as Server);
  };

  it("goes through with Node's own client", { skip: missingOpenssl }, async () => {
    const server = await https();
    const { path, decisions } = await scene({ server });
    const socket = await tunnel(path, "allowed.example:443");
    const secure = connectTls({ socket, servername: "allowed.example", ca: readFileSync(cert) });
    secure.write("GET /node HTTP/1.1\r\nHost: allowed.example\r\nConnection: close\r\n\r\n");
    let text = "";
    for await (const chunk of secure) text += chunk;
    assert.match(text, /hello \/node/);
    assert.deepEqual(decisions, [
      {
        at: 1,
        host: "allowed.example",
        port: 443,
        protocol: "connect",
        verdict: "allowed",
        rule: "allowed.example",
        why: "a rule allows it",
        address: "93.184.216.34",
      },
    ]);
  });

  it("goes through with curl, by CONNECT and by SOCKS", { skip: missingOpenssl || missingCurl }, async () => {
    const server = await https();
    const { path, proxy } = await scene({ server });
    // curl takes no unix socket for its proxy everywhere: this stands for the forwarder in the sandbox.
    const forwarder = await listening(
      createServer({ allowHalfOpen: true }, (client) => {
        const inner = connect({ path, allowHalfOpen: true });
        client.pipe(inner).pipe(client);
      }),
    );
    const { port } = forwarder.address() as AddressInfo;
    const direct = await listening(createServer({ allowHalfOpen: true }, (client) => proxy.serve(client)));
    for (const way of [
      `http://127.0.0.1:${port}`,
      `socks5h://127.0.0.1:${port}`,
      `http://127.0.0.1:${(direct.address() as AddressInfo).port}`,
    ]) {
      const { stdout } = await run(curl, [
        "-sS",
        "--noproxy",
        "",
        "--cacert",
        cert,
        "-x",
        way,
        "https://allowed.example/curl",
      ]);
      assert.equal(stdout, "hello /curl");
    }
    const refused = run(curl, [
      "-sS",
      "--noproxy",
      "",
      "-x",
      `http://127.0.0.1:${port}`,
      "https://evil.example/",
    ]);
    await assert.rejects(refused, /403/);
    const plain = await run(curl, [
      "-sS",
      "--noproxy",
      "",
      "-x",
      `http://127.0.0.1:${port}`,
      "http://evil.example/",
    ]);
    assert.match(plain.stdout, /the network rule evil\.example\./);
  });

  it("is broken off with an alert when the name is another", { skip: missingOpenssl }, async () => {
    const server = await https();
    const { path, decisions } = await scene({ server });
    const secure = connectTls({
      socket: await tunnel(path, "allowed.example:443"),
      servername: "other.example",
    });
    const [error] = await once(secure, "error");
    assert.match(String(error), /access denied/i);
    assert.equal(decisions.length, 1);
    assert.equal(decisions[0]?.verdict, "refused");
    assert.match(decisions[0]?.why ?? "", /its TLS hello names other\.example \(SNI\)/);
  });

  it("sees the name in a hello that is split over segments and records", async () => {
    const server = await echoTcp();
    for (const size of [1, 7, 100]) {
      const { path, decisions } = await scene({ server });
      for (const [name, verdict] of [
        ["other.example", "refused"],
        ["allowed.example", "allowed"],
      ] as const) {
        const bytes = inRecords(await helloOf(name), size);
        const socket = await tunnel(path, "allowed.example:443");
        const echoed = socket.toArray();
        for (let at = 0; at < bytes.length; at += 50) {
          socket.write(bytes.subarray(at, at + 50));
          await new Promise((resolve) => setImmediate(resolve));
        }
        socket.end();
        const back = Buffer.concat(await echoed.catch(() => []));
        assert.equal(decisions.at(-1)?.verdict, verdict);
        assert.equal(back.equals(bytes), verdict === "allowed");
      }
    }
  });

  it("needs a name, and to be TLS, on 443", async () => {
    const server = await echoTcp();
    const { path, decisions } = await scene({ server, rules: ["allowed.example", "93.184.216.34"] });
    const end = async (bytes: Buffer | string): Promise<void> => {
      const socket = await tunnel(path, "allowed.example:443");
      socket.write(bytes);
      await once(socket.resume(), "close");
    };
    await end(await helloOf(undefined));
    await end("GET / HTTP/1.1\r\nHost: allowed.example\r\n\r\n");
    await end("SSH-2.0-x\r\n");
    await end(Buffer.from([0, 1, 2]));
    assert.deepEqual(
      decisions.map(({ verdict }) => verdict),
      ["refused", "refused", "refused", "refused"],
    );
    assert.match(decisions[0]?.why ?? "", /names no host/);
    const socket = await tunnel(path, "93.184.216.34:443");
    const hello = await helloOf(undefined);
    socket.end(hello);
    assert.ok(Buffer.concat(await socket.toArray()).equals(hello));
    assert.equal(decisions.at(-1)?.verdict, "allowed");
  });
});

describe("ports that a rule names", () => {
  it("carry anything, also from servers that speak first", async () => {
    const greeting = await listening(createServer((socket) => socket.end("220 hello\r\n")));
    const first = await scene({ rules: ["allowed.example:25"], server: greeting });
    assert.equal(
      String(Buffer.concat(await (await tunnel(first.path, "allowed.example:25")).end().toArray())),
      "220 hello\r\n",
    );
    const second = await scene({ rules: ["allowed.example:6379"], server: await echoTcp() });
    const socket = await tunnel(second.path, "allowed.example:6379");
    socket.end("PING\r\n");
    assert.equal(String(Buffer.concat(await socket.toArray())), "PING\r\n");
  });

  it("hold TLS and HTTP to the host there too", async () => {
    const server = await echoTcp();
    const { path, decisions, dialled } = await scene({ rules: ["allowed.example:8443"], server });
    const socket = await tunnel(path, "allowed.example:8443");
    socket.write(await helloOf("other.example"));
    await once(socket.resume(), "close");
    const plain = await talk(
      path,
      connectTo("allowed.example:8443"),
      "\r\nGET / HTTP/1.1\r\nHost: other.example:8443\r\n\r\n",
    );
    assert.match(
      plain,
      /400 [\s\S]*the request names other\.example:8443, but goes to allowed\.example:8443/,
    );
    assert.deepEqual(
      decisions.map(({ verdict }) => verdict),
      ["refused", "refused"],
    );
    assert.equal(dialled.length, 2);
  });
});

describe("plain HTTP", () => {
  it("is forwarded, written anew, without what belongs to the connection", async () => {
    const { path, decisions } = await scene({ server: await echoHttp() });
    const head =
      "POST http://Allowed.example/a?b=c HTTP/1.1\r\nHost: allowed.example\r\nProxy-Authorization: x\r\nConnection: X-Secret, content-length\r\nX-Secret: 1\r\nX-Kept: 2\r\nX-Kept: 3\r\nContent-Length: 5\r\n\r\nhello";
    const answer = await talk(path, head);
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    const { method, url, rawHeaders, bytes } = JSON.parse(
      answer.split("\r\n\r\n")[1]?.replace(/^[0-9a-f]+\r\n|\r\n0$/g, "") ?? "",
    );
    assert.deepEqual({ method, url, bytes }, { method: "POST", url: "/a?b=c", bytes: 5 });
    const names = rawHeaders
      .filter((_: string, i: number) => i % 2 === 0)
      .map((name: string) => name.toLowerCase());
    assert.deepEqual(names.sort(), ["connection", "content-length", "host", "x-kept", "x-kept"]);
    assert.equal(decisions[0]?.protocol, "http");
  });

  it("serves one request per connection", async () => {
    const { path, dialled } = await scene({ server: await echoHttp() });
    const one = "GET http://allowed.example/1 HTTP/1.1\r\nHost: allowed.example\r\n\r\n";
    const answer = await talk(path, one + one.replace("/1", "/2") + one.replaceAll("allowed", "evil"));
    assert.equal(answer.match(/ 200 OK/g)?.length, 1);
    assert.equal(dialled.length, 1);
  });

  const hostile: Readonly<Record<string, string>> = {
    "another Host": "GET http://allowed.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "two Hosts":
      "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nHost: allowed.example\r\n\r\n",
    "no Host": "GET http://allowed.example/ HTTP/1.1\r\n\r\n",
    "another port in Host": "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example:81\r\n\r\n",
    "a user name": "GET http://a:b@allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n",
    "both lengths":
      "POST http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths":
      "POST http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n12345",
    "a length with a sign":
      "POST http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nContent-Length: +4\r\n\r\n1234",
    "a coding nobody knows last":
      "POST http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n",
    "bare line feeds": "GET http://allowed.example/ HTTP/1.1\nHost: allowed.example\n\n",
    "a bare carriage return": "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\rX: y\r\n\r\n",
    "a folded header": "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nX: a\r\n b\r\n\r\n",
    "a space before the colon": "GET http://allowed.example/ HTTP/1.1\r\nHost : allowed.example\r\n\r\n",
    "a NUL in a header": "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nX: a\0b\r\n\r\n",
    "a path only": "GET / HTTP/1.1\r\nHost: allowed.example\r\n\r\n",
    "https in the clear": "GET https://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n",
    "another scheme": "GET ftp://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "no HTTP at all": "\x01\x02\x03\r\n\r\n",
  };
  for (const [name, bytes] of Object.entries(hostile)) {
    it(`refuses ${name}`, async () => {
      const { path, dialled } = await scene({ server: await echoHttp() });
      assert.match(await talk(path, bytes), /^HTTP\/1\.1 4\d\d [\s\S]*The sandbox's proxy: /);
      assert.deepEqual(dialled, []);
    });
  }

  it("is held to the host inside tunnels to port 80, each request", async () => {
    const { path, decisions } = await scene({ server: await echoHttp() });
    const ok = "GET /in HTTP/1.1\r\nHost: allowed.example\r\n\r\n";
    assert.match(
      await talk(path, connectTo("allowed.example:80"), ok),
      /200 Connection established[\s\S]*200 OK[\s\S]*\/in/,
    );
    assert.match(
      await talk(path, Buffer.concat([socksTo("allowed.example", 80), Buffer.from(ok)])),
      /200 OK/,
    );
    const other = ok.replace("allowed", "other");
    assert.match(await talk(path, connectTo("allowed.example:80") + other), /names other\.example:80/);
    assert.match(await talk(path, connectTo("allowed.example:80") + ok + other), /200 OK(?![\s\S]*200 OK)/);
    assert.match(
      await talk(path, connectTo("allowed.example:80"), connectTo("evil.example:80")),
      /a tunnel inside a tunnel/,
    );
    assert.equal(
      await talk(path, connectTo("allowed.example:80"), "\x01\x02"),
      "HTTP/1.1 200 Connection established\r\n\r\n",
    );
    assert.equal(decisions.at(-1)?.verdict, "refused");
  });

  it("is limited in the size of its head", async () => {
    const { path, dialled } = await scene({ limits: { headBytes: 1_024 } });
    const answer = await talk(
      path,
      `GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\nX: ${"y".repeat(2_000)}\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1\.1 431 /);
    assert.deepEqual(dialled, []);
  });
});

describe("proxy environment", () => {
  it("leads programs to the proxy, and to loopback without it", { skip: missingCurl }, async () => {
    const server = await echoHttp();
    const { proxy, decisions } = await scene({ server });
    const forwarder = await listening(createServer({ allowHalfOpen: true }, (client) => proxy.serve(client)));
    const env = { PATH: process.env.PATH, ...proxyEnv((forwarder.address() as AddressInfo).port) };
    const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}/own`;
    const script = "for (const url of process.argv.slice(1)) console.log(await (await fetch(url)).text())";
    const urls = ["http://allowed.example/out", own];
    for (const [program, args] of [
      [curl, ["-sS", ...urls]],
      [process.execPath, ["--input-type=module", "-e", script, ...urls]],
    ] as const) {
      decisions.length = 0;
      const { stdout } = await run(program, args, { env });
      assert.match(stdout, /"\/out"[\s\S]*"\/own"/);
      assert.deepEqual(
        decisions.map(({ host, verdict }) => [host, verdict]),
        [["allowed.example", "allowed"]],
      );
    }
    assert.equal(proxyEnv(1).JAVA_TOOL_OPTIONS, undefined);
    assert.match(proxyEnv(1, { java: true }).JAVA_TOOL_OPTIONS ?? "", /-Dhttps\.proxyPort=1 /);
  });
});

describe("the system's own resolver and sockets", () => {
  it("reach what a rule names with its port, by name and by address", async () => {
    const server = await echoHttp();
    const { port } = server.address() as AddressInfo;
    const decisions: NetworkDecision[] = [];
    const rules = parsed([`localhost:${port}`, `127.0.0.1:${port}`, "localhost"]);
    const proxy = createNetworkProxy({
      rules: () => rules,
      now: () => 1,
      onDecision: (one) => void decisions.push(one),
    });
    open.push(proxy);
    const path = join(folder, "system");
    assert.equal(await proxy.listen(path), undefined);
    for (const host of ["localhost", "127.0.0.1"]) {
      const answer = await talk(
        path,
        `GET http://${host}:${port}/ HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`,
      );
      assert.match(answer, / 200 OK/);
    }
    assert.match(await talk(path, connectTo("localhost:443")), /403 [\s\S]*not public \(loopback\)/);
    assert.deepEqual(
      decisions.map(({ verdict }) => verdict),
      ["allowed", "allowed", "refused"],
    );
  });
});

describe("SOCKS", () => {
  it("takes addresses of both kinds, and no other command or greeting", async () => {
    const { path, decisions } = await scene({ rules: [] });
    const request = (rest: readonly number[]): Promise<string> =>
      talk(path, Buffer.from([5, 1, 0, 5, ...rest]));
    await request([1, 0, 1, 127, 0, 0, 1, 1, 187]);
    await request([1, 0, 4, ...new Array<number>(15).fill(0), 1, 1, 187]);
    assert.deepEqual(
      decisions.map(({ host, port }) => [host, port]),
      [
        ["127.0.0.1", 443],
        ["::1", 443],
      ],
    );
    assert.equal((await request([2, 0, 1, 127, 0, 0, 1, 1, 187])).charCodeAt(3), 7);
    assert.equal((await request([1, 0, 9, 127, 0, 0, 1, 1, 187])).charCodeAt(3), 8);
    assert.equal(
      (await request([1, 0, 4, ...new Array<number>(10).fill(0), 255, 255, 127, 0, 0, 1, 1, 187])).charCodeAt(
        3,
      ),
      2,
    );
    assert.equal(await talk(path, Buffer.from([5, 1, 2])), "\x05\xff");
    assert.equal(
      await talk(path, Buffer.from([4, 1, 0, 80, 1, 2, 3, 4, 0])).then((text) => text.slice(0, 12)),
      "HTTP/1.1 400",
    );
  });
});

describe("streams", () => {
  it("keeps 50 MB intact both ways at once, and the end of one direction from ending the other", async () => {
    const { path } = await scene({ rules: ["allowed.example:9000"], server: await echoTcp() });
    const socket = await tunnel(path, "allowed.example:9000");
    const chunk = Buffer.concat([Buffer.from([0]), randomBytes(999_999)]);
    const [sent, received] = [createHash("sha256"), createHash("sha256")];
    let bytes = 0;
    socket.on("data", (piece: Buffer) => {
      received.update(piece);
      bytes += piece.length;
    });
    socket.resume();
    for (let i = 0; i < 50; i += 1) {
      sent.update(chunk);
      if (!socket.write(chunk)) await once(socket, "drain");
    }
    socket.end();
    await once(socket, "close");
    assert.equal(bytes, 50_000_000);
    assert.equal(received.digest("hex"), sent.digest("hex"));
  });

  it("takes no more from a fast side than the slow one reads", async () => {
    let written = 0;
    const flood = await listening(
      createServer((socket) => {
        const pour = (): void => {
          while (socket.write(Buffer.alloc(100_000), () => (written += 100_000))) {}
        };
        socket.on("drain", pour);
        pour();
      }),
    );
    const { path } = await scene({ rules: ["allowed.example:9000"], server: flood });
    const socket = await tunnel(path, "allowed.example:9000");
    socket.pause();
    let before = -1;
    while (before !== written) {
      before = written;
      for (let i = 0; i < 200; i += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(written < 20_000_000, `${written} bytes were taken`);
    socket.destroy();
  });

  it("serves 100 clients at once", async () => {
    const { path, decisions } = await scene({ server: await echoHttp() });
    const one = (i: number): Promise<string> =>
      talk(path, `GET http://allowed.example/${i} HTTP/1.1\r\nHost: allowed.example\r\n\r\n`);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => one(i)));
    for (const [i, answer] of answers.entries()) assert.match(answer, new RegExp(`"/${i}"`));
    assert.equal(decisions.length, 100);
  });

  it("refuses more clients than it has room for, and has room again", async () => {
    const { path } = await scene({ limits: { connections: 2 } });
    const held = [connect(path), connect(path)];
    await Promise.all(held.map((socket) => once(socket, "connect")));
    assert.match(await talk(path), /^HTTP\/1\.1 503 /);
    for (const socket of held) socket.destroy();
    let answer = "503";
    while (answer.includes("503")) answer = await talk(path, connectTo("evil.example:443"));
    assert.match(answer, /403/);
  });

  it("ends clients that are slow to begin", async () => {
    const { path, dialled } = await scene({ limits: { headMs: 50 } });
    assert.equal(await talk(path), "");
    assert.match(await talk(path, "GET http://allowed.example/ HTTP/1.1\r\n"), /^HTTP\/1\.1 408 /);
    assert.equal(await talk(path, Buffer.from([5, 1, 0, 5, 1])), "\x05\x00");
    assert.deepEqual(dialled, []);
  });

  it("ends tunnels without a hello, and those in which nothing moves", async () => {
    const { path, decisions } = await scene({
      server: await echoTcp(),
      rules: ["allowed.example", "allowed.example:9000"],
      limits: { headMs: 50, idleMs: 50 },
    });
    await once((await tunnel(path, "allowed.example:443")).resume(), "close");
    assert.match(decisions[0]?.why ?? "", /did not begin within 50 ms/);
    const idle = await tunnel(path, "allowed.example:9000");
    idle.write("*");
    await once(idle.resume(), "close");
    assert.equal(decisions[1]?.verdict, "allowed");
  });

  it("answers for servers that do not", async () => {
    const mute = await listening(createServer((socket) => socket.resume()));
    const { path } = await scene({ server: mute, limits: { firstByteMs: 50 } });
    assert.match(
      await talk(path, "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n"),
      /^HTTP\/1\.1 504 [\s\S]*silent for 50 ms/,
    );
  });

  it("tells each side when the other is gone", async () => {
    const sockets: Socket[] = [];
    const upstream = await listening(createServer((socket) => sockets.push(socket)));
    const { path } = await scene({ rules: ["allowed.example:9000"], server: upstream });
    const aborted = await tunnel(path, "allowed.example:9000");
    aborted.write("*");
    while (sockets.length < 1) await once(upstream, "connection");
    const gone = once(sockets[0]?.resume() ?? aborted, "close");
    aborted.destroy();
    await gone;
    const client = await tunnel(path, "allowed.example:9000");
    client.write("*");
    while (sockets.length < 2) await new Promise((resolve) => setImmediate(resolve));
    const closed = once(client.resume(), "close");
    sockets[1]?.resetAndDestroy();
    await closed;
  });

  it("answers when a server breaks off its answer's head, and cuts the body when it breaks off that", async () => {
    const rude = await listening(
      createServer((socket) => socket.once("data", () => socket.end("HTTP/1.1 2"))),
    );
    const first = await scene({ server: rude });
    const get = "GET http://allowed.example/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n";
    assert.match(await talk(first.path, get), /^HTTP\/1\.1 502 /);
    const short = await listening(
      createServer((socket) =>
        socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")),
      ),
    );
    const second = await scene({ server: short });
    assert.match(await talk(second.path, get), /Content-Length: 9\r\n[\s\S]*half$/);
  });

  it("leaves nothing behind when it is closed", async () => {
    const warnings: string[] = [];
    const warned = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", warned);
    const server = await echoTcp();
    const { proxy, path } = await scene({ rules: ["allowed.example:9000"], server });
    const busy = await tunnel(path, "allowed.example:9000");
    busy.write("*");
    await once(busy.resume(), "data");
    const early = connect(path).on("error", () => {});
    await once(early, "connect");
    const closed = Promise.all([busy, early].map((socket) => once(socket.resume(), "close")));
    await proxy.close();
    await closed;
    assert.equal(existsSync(path), false);
    await proxy.close();
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", warned);
    assert.deepEqual(warnings, []);
  });

  it("says when its socket cannot be made", async () => {
    const { proxy } = await scene();
    const refused = await proxy.listen(join(folder, "no", "such", "folder"));
    assert.equal(refused?.code, "sandbox-unavailable");
  });
});
