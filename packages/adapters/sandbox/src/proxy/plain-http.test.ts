/** Plain HTTP and SOCKS through the proxy, with real programs and the system's own resolver. */
import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createNetworkProxy } from "./network-proxy.ts";
import type { NetworkDecision } from "./proxy-core.ts";
import { proxyEnv } from "./proxy-env.ts";
import {
  connectTo,
  curl,
  echoHttp,
  folder,
  listening,
  missingCurl,
  open,
  parsed,
  run,
  scene,
  socksTo,
  talk,
} from "./proxy-scene.test.ts";

describe("plain HTTP", () => {
  it("is forwarded and rewritten, without headers of the connection", async () => {
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

  it("must name the tunnel's host in each request, in tunnels to port 80", async () => {
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
  it("reach a target that a rule names with its port, by name and by address", async () => {
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
  it("accepts addresses of both kinds, and no other command or greeting", async () => {
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
