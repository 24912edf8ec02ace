/** The proxy's refusals, by name and by address, in every protocol. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { connectTo, echoHttp, scene, socksTo, talk } from "./proxy-scene.test.ts";

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
    it(`cover ${name}`, async () => {
      const { path, dialled, looked } = await scene({ rules: ["allowed.example", "*.allowed.example"] });
      assert.match(await talk(path, connectTo(target)), /^HTTP\/1\.1 4\d\d /);
      if (!target.includes(" ")) await talk(path, socksTo(target.replace(/:\d+$/, ""), 22));
      assert.deepEqual([dialled, looked], [[], []]);
    });
  }

  it("cover every spelling that differs from the allowed host, in every protocol", async () => {
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
        // Only a real subdomain of the rule's name may be looked up.
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
  it("are looked up once; the checked one is dialled", async () => {
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

  it("are all refused if one of them is private", async () => {
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

  it("are tried in turn, IPv4 first, and the failure lists them", async () => {
    const names = { "allowed.example": ["2606:4700::1", "93.184.216.34"] };
    const { path, dialled } = await scene({ names });
    assert.match(
      await talk(path, connectTo("allowed.example:443")),
      /^HTTP\/1\.1 502 allowed\.example cannot be reached[\s\S]*ECONNREFUSED/,
    );
    assert.deepEqual(dialled, ["93.184.216.34:443", "2606:4700::1:443"]);
  });

  it("that do not exist are a network failure, not a refusal", async () => {
    const { path, decisions } = await scene({ names: { "allowed.example": [] } });
    assert.match(
      await talk(path, connectTo("allowed.example:443")),
      /^HTTP\/1\.1 502 [\s\S]*does not resolve/,
    );
    assert.equal(decisions[0]?.verdict, "failed");
  });
});
