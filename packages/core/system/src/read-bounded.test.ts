/** Bounded reads: anything but a regular file is refused at once, and no read is endless. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { readBounded, readSmallText } from "./read-bounded.ts";

const isLinux = process.platform === "linux";
const folder = mkdtempSync(join(tmpdir(), "lathe-read-bounded-"));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "file");
writeFileSync(file, "0123456789");
const link = (name: string, target: string): string => {
  const path = join(folder, name);
  symlinkSync(target, path);
  return path;
};
const codeOf = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
};

describe("a bounded read", () => {
  it("gives as many bytes as asked for, and says whether there are more", () => {
    for (const maxBytes of [0, 1, 9, 10, 11, 1000]) {
      const { bytes, isCut, stats } = readBounded(file, { maxBytes }) ?? assert.fail();
      assert.deepEqual(
        [bytes.toString(), isCut, stats.size],
        ["0123456789".slice(0, maxBytes), maxBytes < 10, 10],
      );
    }
    assert.equal(readSmallText(file, 10), "0123456789");
    assert.equal(readSmallText(file, 9), undefined);
  });

  it("reads an open descriptor from its start, and leaves it open", () => {
    const descriptor = openSync(file, "r");
    for (const _ of [1, 2]) assert.equal(readBounded(descriptor, { maxBytes: 4 })?.bytes.toString(), "0123");
    closeSync(descriptor);
  });

  it("follows a link only where told so", { skip: process.platform === "win32" }, () => {
    const path = link("link", file);
    assert.equal(
      codeOf(() => readBounded(path, { maxBytes: 10 })),
      "ELOOP",
    );
    assert.equal(readBounded(path, { maxBytes: 10, links: "follow" })?.bytes.length, 10);
  });

  it("returns the system's error for a missing file", () => {
    assert.equal(
      codeOf(() => readBounded(join(folder, "none"), { maxBytes: 1 })),
      "ENOENT",
    );
    assert.equal(readSmallText(join(folder, "none"), 1), undefined);
  });

  it("refuses anything but a regular file, without waiting", { skip: !isLinux }, async () => {
    mkdirSync(join(folder, "sub"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const server = createServer().listen(join(folder, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    const paths = ["sub", "pipe", "socket"].map((name) => join(folder, name));
    const devices = ["/dev/zero", "/dev/null", "/dev/tty", join(folder, "pipe")].map((to, at) =>
      link(`d${at}`, to),
    );
    for (const path of [...paths, ...devices]) {
      assert.equal(readSmallText(path, 100), undefined, path);
      const read = codeOf(() => assert.equal(readBounded(path, { maxBytes: 100 }), undefined));
      assert.ok([undefined, "ELOOP", "ENXIO"].includes(read), `${path}: ${read}`);
    }
    server.close();
  });

  it("does not treat kernel-generated data as a file", { skip: !isLinux }, () => {
    for (const path of ["/proc/self/environ", "/proc/version", "/proc/kmsg", "/sys/kernel/notes"]) {
      assert.equal(readSmallText(path, 1_000_000), undefined, path);
    }
    const descriptor = openSync("/proc/self/environ", constants.O_RDONLY);
    assert.equal(readBounded(descriptor, { maxBytes: 100 }), undefined);
    closeSync(descriptor);
  });
});
