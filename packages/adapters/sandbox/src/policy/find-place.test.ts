/** Where paths outside the workspace lead, and the permission that reading them needs. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { isFailure, type Place, type SandboxSpec } from "@lathe/protocol";
import { makeOutsideFolder } from "@lathe/testkit";
import { findPlace, type View } from "./find-place.ts";
import { prepareFolders } from "./folders.ts";
import { sandboxPolicy } from "./sandbox-policy.ts";

// Not below /tmp: commands have their own /tmp.
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
  closed: [join(root, "state/lathe")],
};
put("home/w/logins/one.json");
put("home/.cargo/registry/crate/lib.rs");
assert.equal(prepareFolders(spec, home), undefined);
const { below, mounts } = sandboxPolicy(spec, { home, cacheFolder: join(root, "cache") });
const view: View = { spec, home, mounts: [...below, ...mounts] };

type Found = Omit<Place, "asked" | "closed">;

function found(path: string, seen: View = view): Found | string {
  const place = findPlace(path, seen);
  if (isFailure(place)) return place.code;
  const { asked: _, closed: _below, ...rest } = place;
  return rest;
}

/** A place that exists only on the machine, not in the sandbox. */
function asked(path: string, target = path): Found {
  return { path, name: path, needs: { kind: "read", target } };
}

it("finds a place that commands see, under their name for it, without asking", () => {
  const env = realpathSync("/usr/bin/env");
  assert.deepEqual(found("/usr/bin/env"), { path: env, name: env });
  assert.deepEqual(found("/bin/env"), { path: env, name: env });
  const out = put("scratch/tmp/out.log");
  const temporary = { path: out, name: "/tmp/out.log", isWritable: true };
  assert.deepEqual(found("/tmp/out.log"), temporary);
  assert.deepEqual(found("/var/tmp/out.log"), temporary);
  assert.deepEqual(found(out), { path: out, name: out, isWritable: true });
  const crate = join(home, ".cargo/registry/crate/lib.rs");
  assert.deepEqual(found(join(scratch, "home/.cargo/registry/crate/lib.rs")), { path: crate, name: crate });
  const passwd = found("/etc/passwd");
  assert.ok(typeof passwd !== "string" && passwd.name === "/etc/passwd");
  assert.match(passwd.path, /etc-[^/]*\/passwd$/, "the copy that commands have");
});

it("asks for a file, or for the repository that contains it", () => {
  const notes = put("home/notes/one.txt");
  assert.deepEqual(found("../notes/one.txt"), asked(notes));
  const [file, top] = [put("home/other/src/b.js"), join(home, "other")];
  put("home/other/.git/HEAD", "ref: refs/heads/main");
  for (const path of [file, top, join(top, "src")]) assert.deepEqual(found(path), asked(path, top));
});

it("follows no link made by a command out of the places that commands see", () => {
  const secret = put("home/secret/key");
  symlinkSync(secret, join(scratch, "tmp/link"));
  assert.deepEqual(found("/tmp/link"), "not-found", "on this machine nothing has that name");
  assert.deepEqual(found(join(scratch, "tmp/link")), asked(secret));
  symlinkSync("/tmp/round", join(scratch, "tmp/round"));
  assert.equal(found("/tmp/round"), "not-found");
  symlinkSync(secret, join(spec.workspace, "key"));
  assert.deepEqual(found("key"), asked(secret));
});

it("recognizes the workspace under any name", () => {
  const inside = join(spec.workspace, "a.js");
  symlinkSync(spec.workspace, join(scratch, "tmp/ws"));
  symlinkSync(spec.workspace, join(home, "alias"));
  for (const path of ["/tmp/ws/a.js", join(scratch, "tmp/ws/a.js"), join(home, "alias/a.js")])
    assert.deepEqual(found(path), { path: inside, name: inside });
});

it("never opens the home or its parents, the kernel's files, or Lathe's own data", () => {
  put("home/.config/lathe/config.json");
  put("state/lathe/sessions/one.jsonl");
  put("scratch/.lathe-box/socket");
  symlinkSync(".lathe-box", join(scratch, "box"));
  symlinkSync(join(spec.workspace, "logins"), join(scratch, "tmp/logins"));
  const closed = [home, root, "/", "/proc/self/environ", "/dev/null", "/sys", "/run"];
  const own = [".config/lathe/config.json", "w/logins/one.json"].map((name) => join(home, name));
  const state = join(root, "state/lathe/sessions/one.jsonl");
  const box = [".lathe-box/socket", "box/socket"].map((name) => join(scratch, name));
  for (const path of [...closed, ...own, ...box, state]) assert.equal(found(path), "no-access", path);
  for (const path of [join(home, "nothing"), "/tmp/logins/one.json"]) assert.equal(found(path), "not-found");
  assert.equal(found("a\0b"), "invalid-arguments");
});

it("shows a folder of Lathe's data for reading, under every name, but not the targets of its links", () => {
  const skill = put("home/.config/lathe/skills/deploy/reference.md");
  put("home/.config/lathe/keys.json");
  const skills = join(home, ".config/lathe/skills");
  symlinkSync("../keys.json", join(skills, "keys"));
  symlinkSync(join(home, ".config"), join(root, "dotfiles"));
  const shown = [join(root, "dotfiles/lathe/skills")];
  const own = { ...spec, shown };
  const policy = sandboxPolicy(own, { home, cacheFolder: join(root, "cache") });
  const byName = join(shown[0] ?? "", "deploy/reference.md");
  for (const mounts of [[...policy.below, ...policy.mounts], undefined]) {
    const seen: View = { spec: own, home, mounts };
    assert.deepEqual(found(skill, seen), { path: skill, name: skill });
    assert.deepEqual(found(byName, seen), { path: skill, name: byName });
    for (const path of [join(skills, "keys"), join(skills, ".."), join(root, "dotfiles/lathe/keys.json")])
      assert.equal(found(path, seen), "no-access", path);
  }
  assert.equal(found(skill), "no-access");
  const around = { ...own, workspace: home };
  assert.ok(!sandboxPolicy(around, { home }).mounts.some((one) => "to" in one && one.to === skills));
});

it("excludes private parts of a place from a search, and never asks for a repository that contains some", () => {
  const dots = join(root, "dots");
  put("dots/.git/HEAD", "ref: refs/heads/main");
  const [readme, settings] = [put("dots/README"), put("dots/state/one")];
  assert.deepEqual(found(readme), asked(readme, dots));
  const seen = { ...view, spec: { ...spec, closed: [join(dots, "state")] } };
  assert.deepEqual(found(readme, seen), asked(readme));
  assert.equal(found(settings, seen), "no-access");
  const whole = findPlace(dots, seen);
  assert.ok(!isFailure(whole));
  assert.deepEqual(whole.closed, [join(dots, "state")]);
  const above = findPlace("../..", { ...seen, home: "/nobody" });
  assert.ok(!isFailure(above) && above.closed.includes(spec.workspace) && above.closed.includes(scratch));
});

it("never opens the home or other sessions' folders below /tmp either", () => {
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), "lathe-place-")));
  try {
    const there = (path: string): string => {
      mkdirSync(join(temporary, path, ".."), { recursive: true });
      writeFileSync(join(temporary, path), "");
      return join(temporary, path);
    };
    const seen = { ...view, home: join(temporary, "home") };
    const [log, config] = [there("build.log"), there("home/.config/lathe/config.json")];
    assert.deepEqual(found(log, seen), asked(log));
    assert.deepEqual(found(there("home/notes"), seen), asked(join(temporary, "home/notes")));
    for (const path of [config, join(temporary, "home"), temporary])
      assert.equal(found(path, seen), "no-access");
    mkdirSync(join(temporary, ".lathe-box"));
    assert.equal(found(log, seen), "no-access");
  } finally {
    rmSync(temporary, { recursive: true });
  }
});

it("asks for everything outside the commands' own folders if no sandbox contains them", () => {
  const seen = { spec, home, mounts: undefined };
  const out = put("scratch/tmp/out.log");
  assert.deepEqual(found(out, seen), { path: out, name: out, isWritable: true });
  const env = realpathSync("/usr/bin/env");
  assert.deepEqual(found("/usr/bin/env", seen), asked(env));
  assert.equal(found(join(scratch, ".lathe-box/socket"), seen), "no-access");
});
