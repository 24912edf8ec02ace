/** Git configurations that name programs: every key by which git or a related tool runs something. */
import type { Draw } from "./draw.ts";

/** The path of a canary by its name. */
export type Canary = (name: string) => string;

export interface Ground {
  /** An empty folder. */
  readonly root: string;
  readonly canary: Canary;
  /** The text of a canary as a shell script, and as a Node module. */
  readonly texts: { shell(name: string): string; node(name: string): string };
}

/** Section, key and value; `@` in a value is the canary. */
const keys: readonly (readonly [section: string, key: string, value: string])[] = [
  ...(["clean", "smudge", "process"] as const).map((key) => ['filter "e"', key, "@"] as const),
  ...(["clean", "smudge", "process"] as const).map((key) => ['filter "lfs"', key, "@ %f"] as const),
  ...(["command", "textconv"] as const).map((key) => ['diff "e"', key, "@"] as const),
  ['merge "e"', "driver", "@ %O %A %B"],
  ["diff", "external", "@"],
  ["core", "fsmonitor", "@"],
  ["core", "sshCommand", "@ now"],
  ["core", "gitProxy", "@"],
  ["core", "pager", "@"],
  ["core", "editor", "@"],
  ["core", "askPass", "@"],
  ["core", "alternateRefsCommand", "@"],
  ["sequence", "editor", "@"],
  ...["status", "log", "diff", "show", "branch", "ls-files", "config"].map(
    (key) => ["pager", key, "@"] as const,
  ),
  ["interactive", "diffFilter", "@"],
  ["credential", "helper", "@"],
  ["credential", "helper", "!@ now"],
  ["gpg", "program", "@"],
  ['gpg "ssh"', "program", "@"],
  ['gpg "ssh"', "defaultKeyCommand", "@"],
  ["log", "showSignature", "true"],
  ["commit", "gpgSign", "true"],
  ...["status", "ls-files", "rev-parse", "log", "worktree", "config", "st"].map(
    (key) => ["alias", key, "!@ now"] as const,
  ),
  ["uploadpack", "packObjectsHook", "@"],
  ['remote "origin"', "uploadpack", "@"],
  ['remote "origin"', "vcs", "ext"],
  ["protocol", "allow", "always"],
  ['url "ext::@ now "', "insteadOf", "ssh://"],
  ['submodule "dep"', "update", "!@ now"],
  ['submodule "dep"', "url", "ext::@ now"],
  ["submodule", "recurse", "true"],
  ["status", "submoduleSummary", "true"],
  ["diff", "submodule", "log"],
  ['trailer "x"', "command", "@"],
  ["gc", "recentObjectsHook", "@"],
  ["gc", "auto", "1"],
  ["core", "untrackedCache", "true"],
  ['tar "tar.gz"', "command", "@"],
  ['difftool "e"', "cmd", "@"],
  ['mergetool "e"', "cmd", "@"],
  ['browser "e"', "cmd", "@"],
  ["init", "templateDir", "./templates"],
  ["receive", "procReceiveRefs", "refs"],
  ['lfs "customtransfer.e"', "path", "@"],
  ["annex", "secure-erase-command", "@"],
];

const partialClone =
  '[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ssh://x/y\n\tpromisor = true\n';

/** Lines of a configuration; each value has a canary named after its place and key. */
export function drawConfig(draw: Draw, canary: Canary, place: string): string {
  const lines = draw.some(keys, 3, 12).map(([section, key, value]) => {
    const program = canary(`${place}-${section.replace(/[^a-z]/giu, "")}-${key}`);
    const quoted = value.includes(";") ? `"${value}"` : value;
    return `[${section.replace("@", program)}]\n\t${key} = ${quoted.replace("@", program)}\n`;
  });
  // The effect of a clean filter shows most often, so most configurations have one.
  if (draw.chance(0.5)) lines.push(`[filter "e"]\n\tclean = ${canary(`${place}-filter-clean`)}\n`);
  if (draw.chance(0.15))
    lines.push(`[core]\n\tsshCommand = ${canary(`${place}-fetch`)} now\n${partialClone}`);
  if (draw.chance(0.3))
    lines.push(`[core]\n\thooksPath = ${draw.one(["hooks", ".git/hooks", "../hooks", "."])}\n`);
  if (draw.chance(0.1)) lines.push('[filter "e"]\n\trequired = true\n');
  return lines.join("");
}

/** Git's own hook names, for executable files. */
export const hookNames: readonly string[] = [
  ..."post-checkout post-index-change reference-transaction pre-commit post-commit fsmonitor-watchman".split(
    " ",
  ),
  ..."pre-auto-gc post-rewrite prepare-commit-msg sendemail-validate post-merge query-watchman".split(" "),
];

export const attributes: readonly string[] = [
  "* filter=e diff=e merge=e\n",
  "* filter=lfs diff=lfs merge=lfs -text\n",
  "*.txt filter=e\n*.ts filter=e text working-tree-encoding=UTF-16\n",
  "[attr]own filter=e diff=e\n* own\n",
  "* text=auto eol=crlf ident filter=e export-subst\n",
];
