/** Where paths outside the workspace lead, and what reading there needs. */
import assert from "node:assert/strict";
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, it } from "node:test";
import { isFailure, type Place, type SandboxSpec } from "@lathe/protocol";
import { makeOutsideFolder } from "@lathe/testkit";
import { findPlace } from "./find-place.ts";
import { prepareFolders } from "./folders.ts";
import { sandboxPolicy } from "./sandbox-policy.ts";

// Not below /tmp, which commands have for themselves.
const root = realpathSync(makeOutsideFolder());
after(() => rmSync(root, { recursive: true }));

function put(path: string, text = ""): string {
  const at = join(root, path);
  mkdirSync(join(at, ".."), { recursive: true });
  writeFileSync(at, text);
  return at;
}

put("home/w/a.js");
const [home, scratch] = [join(root, "home"), join(root, "scratch")];
const spec: SandboxSpec = {
  workspace: join(home, "w"),
  scratch,
  network: "none",
  env: { PATH: "/usr/bin:/bin" },
  hidden: [join(home, "w/logins")],
};
put("home/w/logins/one.json");
put("home/.cargo/registry/crate/lib.rs");
assert.equal(prepareFolders(spec, home), undefined);
const { below, mounts } = sandboxPolicy(spec, { home, cacheFolder: join(root, "cache") });
const view = { spec, home, mounts: [...below, ...mounts] };

function found(path: string, seen = view): Place | string {
  const place = findPlace(path, seen);
  return isFailure(place) ? place.code : place;
}

it("finds what commands see, under the names they have for it, and asks for nothing", () => {
  const env = realpathSync("/usr/bin/env");
  assert.deepEqual(found("/usr/bin/env"), { path: env });
  assert.deepEqual(found("/bin/env"), { path: env });
  const out = put("scratch/tmp/out.log");
  assert.deepEqual(found("/tmp/out.log"), { path: out });
  assert.deepEqual(found("/var/tmp/out.log"), { path: out });
  assert.deepEqual(found(out), { path: out });
  const crate = join(home, ".cargo/registry/crate/lib.rs");
  assert.deepEqual(found(join(scratch, "home/.cargo/registry/crate/lib.rs")), { path: crate });
  assert.match(JSON.stringify(found("/etc/passwd")), /etc-[^"]*passwd"\}$/, "the copy that commands have");
});

it("asks for a file, or for the repository it lies in", () => {
  const notes = put("home/notes/one.txt");
  assert.deepEqual(found("../notes/one.txt"), { path: notes, needs: { kind: "read", target: notes } });
  const [file, top] = [put("home/other/src/b.js"), join(home, "other")];
  put("home/other/.git/HEAD", "ref: refs/heads/main");
  const needs = { kind: "read", target: top };
  assert.deepEqual(found(file), { path: file, needs });
  assert.deepEqual(found(top), { path: top, needs });
  assert.deepEqual(found(join(top, "src")), { path: join(top, "src"), needs });
});

it("follows no link of a command's making out of what commands see", () => {
  const secret = put("home/secret/key");
  symlinkSync(secret, join(scratch, "tmp/link"));
  const needs = { kind: "read", target: secret };
  assert.deepEqual(found("/tmp/link"), "not-found", "on this machine nothing has that name");
  assert.deepEqual(found(join(scratch, "tmp/link")), { path: secret, needs });
  symlinkSync("/tmp/round", join(scratch, "tmp/round"));
  assert.equal(found("/tmp/round"), "not-found");
  symlinkSync(secret, join(spec.workspace, "key"));
  assert.deepEqual(found("key"), { path: secret, needs });
});

it("gives nobody the home or what holds it, the kernel's files, and what Lathe keeps", () => {
  put("home/.config/lathe/config.json");
  put("scratch/.lathe-box/socket");
  const closed = [home, root, "/", "/proc/self/environ", "/dev/null", "/sys", "/run"];
  const own = [".config/lathe/config.json", "w/logins/one.json"].map((name) => join(home, name));
  for (const path of [...closed, ...own, join(scratch, ".lathe-box/socket")])
    assert.equal(found(path), "no-access", path);
  assert.equal(found(join(home, "nothing")), "not-found");
  assert.equal(found("a\0b"), "invalid-arguments");
});

it("asks for everything but their own where nothing holds commands in", () => {
  const seen = { spec, home, mounts: undefined };
  const out = put("scratch/tmp/out.log");
  assert.deepEqual(findPlace(out, seen), { path: out });
  const env = realpathSync("/usr/bin/env");
  assert.deepEqual(findPlace("/usr/bin/env", seen), { path: env, needs: { kind: "read", target: env } });
  assert.ok(isFailure(findPlace(join(scratch, ".lathe-box/socket"), seen)));
});
