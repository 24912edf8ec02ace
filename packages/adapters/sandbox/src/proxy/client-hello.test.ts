/** Real TLS hellos: whole, in pieces, in small records, and broken. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { assertGrowth } from "@lathe/testkit/growth";
import { fc } from "@lathe/testkit/properties";
import { parseClientHello } from "./client-hello.ts";
import { helloOf, inRecords } from "./made-hello.ts";

describe("client hello", () => {
  let hello: Buffer;
  before(async () => {
    hello = await helloOf("Example.COM");
  });

  it("returns the name that the client requests", () => {
    assert.deepEqual(parseClientHello(hello), { value: { serverName: "example.com" }, used: 0 });
  });

  it("reports a missing name", async () => {
    assert.deepEqual(parseClientHello(await helloOf(undefined)), { value: {}, used: 0 });
  });

  it("needs more bytes for every part of it", () => {
    for (let end = 1; end < hello.length; end += 1) {
      assert.equal(parseClientHello(hello.subarray(0, end)), "more", `${end} bytes`);
    }
  });

  it("is assembled from small records", () => {
    for (const size of [1, 3, 50, 200]) {
      const split = inRecords(hello, size);
      assert.deepEqual(parseClientHello(split), { value: { serverName: "example.com" }, used: 0 });
      assert.equal(parseClientHello(split.subarray(0, split.length - 1)), "more");
    }
  });

  it("is assembled cheaply from very many records", () => {
    const work = (length: number): void => {
      // A message that lacks its last byte: the parser runs for each byte that arrives.
      const message = Buffer.concat([Buffer.of(1, 0, length >> 8, length & 0xff), Buffer.alloc(length - 1)]);
      const split = inRecords(Buffer.concat([hello.subarray(0, 5), message]), 1);
      for (let end = split.length - 20; end <= split.length; end += 1)
        assert.equal(parseClientHello(split.subarray(0, end)), "more");
    };
    assertGrowth(work, { sizes: [0x400, 0x4000], atMost: 40 });
  });

  it("ignores bytes after it", () => {
    const result = parseClientHello(Buffer.concat([hello, Buffer.from("rest")]));
    assert.deepEqual(result, { value: { serverName: "example.com" }, used: 0 });
  });

  it("refuses bytes that are no hello", () => {
    for (const bytes of [
      "GET / HTTP/1.1\r\n",
      "\x16\x02\x00",
      "\x16\x03\x01\x00\x00",
      "\x16\x03\x01\xff\xff",
      "\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00",
    ]) {
      assert.ok("problem" in Object(parseClientHello(Buffer.from(bytes, "latin1"))), JSON.stringify(bytes));
    }
  });

  it("refuses names with a NUL, two names, and lengths that do not fit", () => {
    const at = hello.indexOf("Example.COM");
    const nul = Buffer.from(hello);
    nul[at + 3] = 0;
    assert.match(JSON.stringify(parseClientHello(nul)), /control character/);
    const long = Buffer.from(hello);
    long.writeUInt16BE(12, at - 2);
    assert.match(JSON.stringify(parseClientHello(long)), /not a valid TLS hello/);
    const short = Buffer.from(hello);
    short.writeUInt16BE(5, at - 2);
    assert.match(JSON.stringify(parseClientHello(short)), /not a valid TLS hello/);
  });

  it("never throws, and never returns a host other than the one in it", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 6 }), (changes) => {
        const bytes = Buffer.from(hello);
        for (const [at, value] of changes) bytes[at] = value;
        const result = parseClientHello(bytes);
        if (result === "more" || "problem" in result) return;
        const { serverName } = result.value;
        assert.ok(serverName === undefined || bytes.toString("latin1").toLowerCase().includes(serverName));
      }),
      { numRuns: 1_000 },
    );
  });
});
