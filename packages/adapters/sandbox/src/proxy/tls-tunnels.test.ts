/** TLS in tunnels is limited to the tunnel's host; and traffic through ports that a rule names. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { connect as connectTls } from "node:tls";
import { helloOf, inRecords } from "./made-hello.ts";
import {
  connectTo,
  curl,
  echoTcp,
  folder,
  listening,
  missingCurl,
  missingOpenssl,
  openssl,
  run,
  scene,
  talk,
  tunnel,
} from "./proxy-scene.test.ts";

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

  it("works with Node's own client", { skip: missingOpenssl }, async () => {
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

  it("works with curl, by CONNECT and by SOCKS", { skip: missingOpenssl || missingCurl }, async () => {
    const server = await https();
    const { path, proxy } = await scene({ server });
    // Not every curl supports a unix socket as proxy: this server replaces the sandbox's forwarder.
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

  it("is broken off with an alert if the name differs", { skip: missingOpenssl }, async () => {
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

  it("finds the name in a hello that is split over segments and records", async () => {
    const server = await echoTcp();
    for (const size of [1, 7, 100]) {
      const { path, decisions } = await scene({ server });
      for (const [name, verdict] of [
        ["other.example", "refused"],
        ["allowed.example", "allowed"],
      ] as const) {
        const bytes = inRecords(await helloOf(name), size);
        const socket = await tunnel(path, "allowed.example:443");
        // A refused client may be broken off while it still sends.
        const echoed = socket.toArray().catch(() => []);
        for (let at = 0; at < bytes.length; at += 50) {
          socket.write(bytes.subarray(at, at + 50));
          await new Promise((resolve) => setImmediate(resolve));
        }
        socket.end();
        const back = Buffer.concat(await echoed);
        assert.equal(decisions.at(-1)?.verdict, verdict);
        assert.equal(back.equals(bytes), verdict === "allowed");
      }
    }
  });

  it("must have a name, and be TLS, on 443", async () => {
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
  it("carry any protocol, also from servers that speak first", async () => {
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

  it("also limit TLS and HTTP to the host", async () => {
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
