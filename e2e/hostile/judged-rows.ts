/** Commands that run something other than what policy judged, and a place with their files. */
import assert from "node:assert/strict";
import { type HostilePlace, openHostilePlace } from "./hostile-place.ts";

export const push: string = "git push --force";

/** Each replaces what the rest of its line runs, which was harmless when policy read it. */
export const replaced: readonly string[] = [
  "cp evil.txt s.sh && bash s.sh",
  "mv evil.txt s.sh; ./s.sh",
  "ln -sf evil.txt s.sh && sh s.sh",
  "tar xf evil.tar && bash s.sh",
  "git checkout evil -- s.sh && bash s.sh",
  "git stash pop; bash s.sh",
  "patch -p0 < evil.patch && bash s.sh",
  `sed -i 's/true/${push}/' s.sh && bash s.sh`,
  `echo '${push}' | tee s.sh >/dev/null; . ./s.sh`,
  "python3 - <<'E'\nopen('s.sh','w').write(open('evil.txt').read())\nE\nbash s.sh",
  "cp evil.json package.json && npm test",
  "install -m755 evil.txt s.sh; ./s.sh",
  "dd if=evil.txt of=s.sh status=none; bash s.sh",
  "cp evil.mk Makefile && make",
  `git config alias.zz '!${push}' && git zz`,
  "git -c include.path=../evil.gitconfig zz",
  "GIT_CONFIG_GLOBAL=evil.gitconfig git zz",
  "rsync -a evil/ ./ ; bash s.sh",
  "cd evil && bash s.sh",
  "(sleep 1; cp evil.txt s.sh) & sleep 2; bash s.sh",
];

/** B11: a variable, a flag or a constructed command that makes a program run something else. */
export const indirect: readonly string[] = [
  "BASH_ENV=go.sh bash -c :",
  "ENV=go.sh sh -i -c :",
  "make -f evil.mk",
  "make -C evil x",
  "xargs -a <(echo push -f) git",
  `perl -e 'exec join " ", qw(git push -f)'`,
  "just up",
  "task x",
  "./p.py",
  "python3 -m p",
  "PYTHONSTARTUP=p.py python3 -i -c pass",
  "NODE_OPTIONS='--require ./p.cjs' node -e 0",
  "PERL5OPT=-Mp perl -e 1",
  "RUBYOPT=-r./p ruby -e 1",
  "GIT_SSH_COMMAND=./p.py git fetch",
  "GIT_EXTERNAL_DIFF=./p.py git diff",
  "PAGER=./p.py git -p log",
  "EDITOR=./p.py git commit --amend",
  "LD_PRELOAD=./p.so ls",
  "rg --pre ./p.py x",
  "tar cf x.tar s.sh --checkpoint=1 --checkpoint-action=exec=./p.py",
  "find . -name s.sh -execdir ./p.py {} +",
];

const indirectFiles: Readonly<Record<string, string>> = {
  "go.sh": `${push}\n`,
  "evil/Makefile": `x:\n\t${push}\n`,
  justfile: `up:\n\t${push}\n`,
  "Taskfile.yml": `version: "3"\ntasks:\n  x:\n    cmds:\n      - ${push}\n`,
  "p.py": `#!/usr/bin/env python3\nimport subprocess\nsubprocess.run("${push}".split())\n`,
  "p.cjs": `require("node:child_process").execSync("${push}");\n`,
  "p.pm": `exec qw(${push});\n`,
  "p.rb": `exec "${push}"\n`,
};

export async function openJudgedPlace(): Promise<HostilePlace> {
  const at = await openHostilePlace();
  at.put("s.sh", "true\n");
  at.put("evil.txt", `${push}\n`);
  at.put("evil/s.sh", `${push}\n`);
  at.put("package.json", '{"scripts":{"test":"true"}}');
  at.put("evil.json", `{"scripts":{"test":"${push}"}}`);
  at.put("Makefile", "all:\n\ttrue\n");
  at.put("evil.mk", `all:\n\t${push}\n`);
  at.put("evil.gitconfig", `[alias]\n\tzz = "!${push}"\n`);
  at.git("init", "-q", "-b", "main");
  at.git("add", "-A");
  at.git("commit", "-qm", "first");
  for (const [name, text] of Object.entries(indirectFiles)) at.put(name, text);
  return at;
}

/** Runs with the person's own rights, without a sandbox. */
export async function assertNotAllowed(at: HostilePlace, command: string): Promise<void> {
  const { out } = await at.run(["policy", "check", "--no-sandbox", "--json", command]);
  assert.notEqual((JSON.parse(out) as { readonly verdict?: string }).verdict, "allow", out);
}
