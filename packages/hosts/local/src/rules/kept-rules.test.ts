import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { addProjectRules, projectRulesFile, readProjectRules, removeProjectRule } from "@lathe/extensions";
import { isFailure, type Rule } from "@lathe/protocol";
import { openKeptRules } from "./kept-rules.ts";

let root: string;
let cwd: string;
let env: Record<string, string>;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-rules-")));
  cwd = join(root, "project");
  env = { HOME: join(root, "home"), XDG_CONFIG_HOME: join(root, "config") };
  for (const folder of [cwd, env.HOME as string]) mkdirSync(folder);
});
afterEach(() => rmSync(root, { recursive: true }));

const rule = (kind: NonNullable<Rule["kinds"]>[number], target: string): Rule => ({
  name: "always",
  verdict: "allow",
  kinds: [kind],
  target,
});
const push = rule("vcs", "git push origin \\*");
const host = rule("network", "example.com");

it("saves each rule once, outside the project, with an example; removes one", () => {
  assert.deepEqual(readProjectRules(env, cwd), []);
  assert.equal(addProjectRules(env, cwd, [push, host]), undefined);
  assert.equal(addProjectRules(env, cwd, [host]), undefined);
  const kept = readProjectRules(env, cwd);
  assert.ok(!isFailure(kept));
  assert.deepEqual(
    kept.map(({ example }) => example),
    ["vcs:git push origin *", "network:example.com"],
  );
  assert.deepEqual(readProjectRules(env, root), [], "another folder has none of them");
  assert.ok(!isFailure(removeProjectRule(env, cwd, 0)));
  const left = readProjectRules(env, cwd);
  assert.deepEqual(!isFailure(left) && left.map(({ target }) => target), ["example.com"]);
  assert.ok(isFailure(removeProjectRule(env, cwd, 7)));
});

it("rejects a rule that no answer made, or that does not match its example", () => {
  const file = projectRulesFile(env, cwd);
  assert.equal(addProjectRules(env, cwd, [host]), undefined);
  const { folder, rules } = JSON.parse(readFileSync(file, "utf8"));
  const wrong: readonly object[] = [
    { folder: root, rules },
    { folder, rules: [{ ...rules[0], verdict: "deny" }] },
    { folder, rules: [{ ...rules[0], target: "other.com" }] },
    { folder, rules: [{ ...rules[0], kinds: ["network", "write"] }] },
    { folder, rules: [null] },
    { folder },
  ];
  for (const one of wrong) {
    writeFileSync(file, JSON.stringify(one));
    assert.ok(isFailure(readProjectRules(env, cwd)), JSON.stringify(one));
  }
});

it("applies another session's saved rule at once", async () => {
  const { rules, kept } = openKeptRules({ cwd, env });
  assert.deepEqual(rules(), []);
  addProjectRules(env, cwd, [host]);
  assert.equal(rules().length, 1);
  assert.equal(await kept?.keep([push]), undefined);
  assert.equal(rules().length, 2);
  removeProjectRule(env, cwd, 0);
  assert.deepEqual(
    rules().map(({ target }) => target),
    [push.target],
  );
});

it("does not offer a path or a host that commands never get", async () => {
  const { kept } = openKeptRules({ cwd, env });
  const offered: readonly Rule[] = [
    rule("write", "/srv/data/**"),
    rule("delete", "/srv/data/old"),
    rule("network", "example.com:8443"),
    rule("write", ".env"),
    rule("execute", "sudo make install"),
  ];
  for (const one of offered) assert.deepEqual(await kept?.offered([one]), [one], one.target);
  const never: readonly Rule[] = [
    rule("write", "/etc/hosts"),
    rule("delete", "/usr/local/bin/x"),
    rule("write", "~/.config/lathe/config.json"),
    rule("write", "~"),
    rule("read", `${env.HOME}/**`),
    rule("write", "/proc/sys/kernel/core_pattern"),
    rule("network", "169.254.169.254"),
    rule("network", "no-host/at/all"),
  ];
  for (const one of never) assert.deepEqual(await kept?.offered([one, host]), [], one.target);
});

it("saves nothing where commands could write it", () => {
  const inside = { ...env, XDG_CONFIG_HOME: join(cwd, ".config") };
  assert.equal(openKeptRules({ cwd, env: inside }).kept, undefined);
  assert.ok(!existsSync(join(cwd, ".config")));
});

it("applies no rule that commands could have written, even behind the user's own link", () => {
  mkdirSync(join(cwd, "dotfiles"));
  symlinkSync(join(cwd, "dotfiles"), join(root, "config"));
  assert.equal(addProjectRules(env, cwd, [push]), undefined);
  const { kept, rules } = openKeptRules({ cwd, env });
  assert.equal(kept, undefined);
  assert.deepEqual(rules(), []);
});
