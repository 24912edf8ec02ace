/** Which of git's settings commands may change, and how the rest is restored. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keptConfig } from "./git-config-change.ts";

const place = { git: "/w/.git", workspace: "/w", scratch: "/scratch" };
const base = "[core]\n\tbare = false\n";

describe("a change of git's settings", () => {
  for (const [what, before, now] of [
    ["a name", base, `${base}[user]\n\tname = Ada\n\temail = a@b.c\n`],
    ["a branch", base, `${base}[branch "a b"]\n\tremote = origin\n\tmerge = refs/heads/a\n`],
    ["a remote", base, `${base}[remote "o"]\n\turl = git@example.org:a/b.git\n\tfetch = +refs/*:refs/*\n`],
    ["comments and blanks", base, `# mine\n\n${base}; more`],
    ["settings of the user that stay", `${base}[alias]\n\tst = status\n`, `[alias]\n\tst = status\n${base}`],
    ["a submodule in the workspace", base, "[core]\n\tworktree = ../../../w/lib\n"],
  ] as const) {
    it(`allows ${what}`, () => assert.equal(keptConfig(before, now, place), undefined));
  }

  for (const [name, text] of [
    ["core.fsmonitor", "[core]\n\tfsmonitor = ./x\n"],
    ["core.fsmonitor", "[core] fsmonitor = ./x\n"],
    ["core.fsmonitor", "[CORE]\n\tfsMonitor=./x"],
    ["core.fsmonitor", "[core]\n\teol = \\\nlf\n\tfsmonitor = ./x\n"],
    ["core.fsmonitor", '[user]\n\tname = "a # b" # c \\\n[core]\n\tfsmonitor = x\n'],
    ["core.hookspath", "[core]\n\thooksPath = evil\n"],
    ["core.worktree", "[core]\n\tworktree = /etc\n"],
    ["include.path", "[include]\n\tpath = ../x\n"],
    ["includeif.gitdir:/.path", '[includeIf "gitdir:/"]\n\tpath = ../x\n'],
    ["diff.evil.textconv", '[diff "evil"]\n\ttextconv = x\n'],
    ["diff.evil.textconv", "[diff.evil]\n\ttextconv = x\n"],
    ["filter.evil.clean", '[filter "evil"]\n\tclean = x\n'],
    ["remote.o.url", '[remote "o"]\n\turl = ext::sh -c x\n'],
    ["remote.o.url", '[remote "o"]\n\turl = "e\\\nxt::x"\n'],
    ["remote.o.url", '[remote "o"]\n\turl = /scratch/tmp/evil\n'],
    ["remote.o.uploadpack", '[remote "o"]\n\tuploadpack = x\n'],
    ["remote.o.vcs", '[remote "o"]\n\tvcs = x\n'],
    ["branch.b.remote", '[branch "b"]\n\tremote = ext::x\n'],
    ["submodule.s.update", '[submodule "s"]\n\tupdate = !x\n'],
    ["credential.helper", "[credential]\n\thelper = x\n"],
    ["alias.st", "[alias]\n\tst = !x\n"],
    ["url.a.insteadof", '[url "a"]\n\tinsteadOf = b\n'],
    ["gpg.program", "[gpg]\n\tprogram = x\n"],
  ] as const) {
    it(`reverts ${JSON.stringify(text)}`, () => {
      const kept = keptConfig(base, `${base}${text}`, place);
      assert.ok(kept?.taken.includes(name), `${kept?.taken.join()}`);
      assert.equal(keptConfig(base, kept?.text ?? "", place), undefined);
      assert.doesNotMatch(kept?.text ?? "", /fsmonitor|textconv|\bx\b/iu);
    });
  }

  it("leaves the rest of the file unchanged, byte for byte", () => {
    const more = '[branch "b"]\n\tmerge = refs/heads/b\n';
    const now = `[core]\n\tbare = false\n\tfsmonitor = x\n[alias]\n\tst = !x\n${more}`;
    assert.equal(keptConfig(base, now, place)?.text, `${base}${more}`);
  });

  it("restores the user's settings", () => {
    const mine = `${base}\thooksPath = /mine\n`;
    assert.equal(keptConfig(mine, base, place)?.text, mine);
    assert.equal(keptConfig(mine, mine.replace("/mine", "/evil"), place)?.text, mine);
  });

  it("restores the whole file if git could not read it", () => {
    for (const now of [
      "[core",
      "x = y\n",
      "[core]\n\tbare = \\x\n",
      "[core]\n\tbare = false\0\n",
      "[a]\r\n",
    ]) {
      assert.deepEqual(keptConfig(base, now, place), { text: base, taken: ["it cannot be read"] });
    }
    assert.equal(keptConfig(undefined, "[core", place)?.text, undefined);
  });
});
