/** The program refuses the right calls by the kernel's own numbers, and allows the rest. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { describe, it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { seccompProgram } from "./seccomp-program.ts";

const { EPERM, ENOSYS, EAFNOSUPPORT } = constants.errno;
const allowed = 0x7fff_0000;
const audit = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;

interface Call {
  readonly number: number;
  readonly arguments?: readonly number[];
  readonly audit?: number;
}

interface Step {
  readonly code: number;
  readonly onTrue: number;
  readonly onFalse: number;
  readonly constant: number;
}

function stepsOf(program: Buffer): readonly Step[] {
  return Array.from({ length: program.length / 8 }, (_, i) => ({
    code: program.readUInt16LE(8 * i),
    onTrue: program.readUInt8(8 * i + 2),
    onFalse: program.readUInt8(8 * i + 3),
    constant: program.readUInt32LE(8 * i + 4),
  }));
}

function holds(code: number, word: number, constant: number): boolean {
  if (code === 0x15) return word === constant;
  return code === 0x35 ? word >= constant : (word & constant) !== 0;
}

function dataOf({ number, arguments: given = [] }: Call, architecture: number): Buffer {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [i, value] of given.entries()) data.writeUInt32LE(value >>> 0, 16 + 8 * i);
  return data;
}

/** The kernel's result: the errno, or 0 for an allowed call. */
function run(architecture: "x64" | "arm64", call: Call): number {
  const steps = stepsOf(seccompProgram(architecture) ?? assert.fail());
  const data = dataOf(call, call.audit ?? audit[architecture]);
  let word = 0;
  for (let at = 0; ; ) {
    const { code, onTrue, onFalse, constant } = steps[at++] ?? assert.fail("it ran off its end");
    if (code === 0x06) return constant === allowed ? 0 : constant & 0xffff;
    if (code === 0x20) word = data.readUInt32LE(constant);
    else at += holds(code, word, constant) ? onTrue : onFalse;
  }
}

const rows: readonly (readonly [what: string, call: Call, errno: number])[] = [
  ["read", { number: 0 }, 0],
  ["mount", { number: 165 }, EPERM],
  ["clone3", { number: 435 }, ENOSYS],
  ["a thread", { number: 56, arguments: [0x3d0f00] }, 0],
  ["a user namespace", { number: 56, arguments: [0x1000_0011] }, EPERM],
  ["unshare of files", { number: 272, arguments: [0x400] }, 0],
  ["chmod 755", { number: 90, arguments: [0, 0o755] }, 0],
  ["chmod 4755", { number: 90, arguments: [0, 0o4755] }, EPERM],
  ["fchmodat 2755", { number: 268, arguments: [0, 0, 0o2755] }, EPERM],
  ["openat for reading with any mode", { number: 257, arguments: [0, 0, 0, 0o4755] }, 0],
  ["openat making a set-uid file", { number: 257, arguments: [0, 0, 0o101, 0o4755] }, EPERM],
  ["openat making a file", { number: 257, arguments: [0, 0, 0o101, 0o644] }, 0],
  ["a nameless set-uid file", { number: 257, arguments: [0, 0, 0o20200002, 0o4755] }, EPERM],
  ["the size of a terminal", { number: 16, arguments: [0, 0x5413] }, 0],
  ["typing into a terminal", { number: 16, arguments: [0, 0x5412] }, EPERM],
  ["the console", { number: 16, arguments: [0, 0x541c] }, EPERM],
  ["a unix socket", { number: 41, arguments: [1, 1, 0] }, 0],
  ["an internet socket", { number: 41, arguments: [2, 1, 6] }, 0],
  ["an IPv6 socket", { number: 41, arguments: [10, 1, 6] }, 0],
  ["netlink for addresses", { number: 41, arguments: [16, 3, 0] }, 0],
  ["netlink for audit", { number: 41, arguments: [16, 3, 9] }, EAFNOSUPPORT],
  ["a virtual machine's socket", { number: 41, arguments: [40, 1, 0] }, EAFNOSUPPORT],
  ["a packet socket", { number: 41, arguments: [17, 3, 0] }, EAFNOSUPPORT],
  ["a call of x32", { number: 0x4000_0000 }, ENOSYS],
  ["a call of 32-bit x86", { number: 11, audit: 0x4000_0003 }, ENOSYS],
];

describe("the seccomp program", () => {
  for (const [what, call, errno] of rows) {
    it(`${errno === 0 ? "lets through" : "refuses"} ${what}`, () => assert.equal(run("x64", call), errno));
  }

  it("refuses calls on arm64 by that architecture's numbers", () => {
    assert.equal(run("arm64", { number: 40 }), EPERM);
    assert.equal(run("arm64", { number: 198, arguments: [40, 1, 0] }), EAFNOSUPPORT);
    assert.equal(run("arm64", { number: 63 }), 0);
    assert.equal(seccompProgram("riscv64"), undefined);
  });

  it("terminates for every call, also with wild arguments", () => {
    const word = fc.integer({ min: 0, max: 0xffff_ffff });
    const calls = fc.record({
      number: fc.integer({ min: 0, max: 600 }),
      arguments: fc.array(word, { maxLength: 6 }),
    });
    fc.assert(fc.property(calls, (call) => [0, EPERM, ENOSYS, EAFNOSUPPORT].includes(run("x64", call))));
  });

  const headers = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h";
  it("matches the kernel headers' numbers", { skip: !existsSync(headers) && "no headers here" }, () => {
    const source = readFileSync(new URL("./seccomp-program.ts", import.meta.url), "utf8");
    const known = new Map(
      [...readFileSync(headers, "utf8").matchAll(/#define __NR_(\w+) (\d+)/g)].map(([, name, at]) => [
        name,
        Number(at),
      ]),
    );
    const written = [...source.matchAll(/\["(\w+)", (\d+), /g)];
    assert.ok(written.length > 50);
    for (const [, name, at] of written) {
      const expected = known.get(name);
      if (expected !== undefined) assert.equal(Number(at), expected, name);
    }
  });
});
