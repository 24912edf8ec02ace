/** Words that mean to publish, deploy or destroy, for any program or target that no table knows. */
import { type ProgramCall, positional } from "./program-call.ts";

/** Such a word alone is enough. */
const clear =
  /^(?:un)?publish(?:[-:].*)?$|^(?:un|re)?deploy(?:[-:].*)?$|^(?:destroy|terminate|decommission|teardown|tear-down|rollback|unpublish|nuke|deprovision|submit|downgrade)(?:[-:].*)?$/u;
/** Such a word is a verb if another word follows. */
const likely =
  /^(?:delete|remove-all|drop|purge|prune|push|upload|release|revoke|wipe|truncate|flush|reset|uninstall|cancel|transfer|promote)(?:[-:].*)?$|^(?:delete|destroy|drop|purge|terminate|revoke|publish|deploy)[A-Z]\w*$/u;

/** These count after the name of their object. */
const behind = /^(?:remove|rm|del)$/u;
const options = /^--(?:auto-submit|publish|push|deploy)$/u;
const programs = /(?:^|[-_.])(?:drop|delete|destroy|publish|deploy|purge|wipe|terminate)|tunnel|ngrok/u;

/** Local programs, whose words are files, names or text. */
const local: ReadonlySet<string> = new Set(
  (
    "git cd pushd popd ls cat head tail less more wc stat file du df tree cp mv rm ln mkdir rmdir touch chmod chown chgrp " +
    "install tee tar zip unzip gzip gunzip bzip2 xz zstd 7z rsync patch diff cmp comm sort uniq cut tr paste join split " +
    "find fd fdfind grep egrep fgrep rg ag ack sed gsed awk jq yq xargs parallel env export set unset declare local " +
    "readonly read alias unalias hash type which command builtin man info tldr apropos whatis help echo printf test [ [[ " +
    "true false : let eval exec trap wait kill pkill pgrep killall ps top htop jobs fg bg disown sleep date cal seq yes " +
    "time timeout nice nohup setsid watch entr tmux screen script expect open xdg-open code codium vim vi nvim nano emacs " +
    "ed ex bat batcat eza exa lsd delta glow fzf z zoxide hexyl xxd od hexdump strings readelf objdump nm ldd basename " +
    "dirname realpath readlink pwd shasum md5sum sha256sum cksum base64 column fold fmt nl tac rev shuf hyperfine " +
    "concurrently npm-run-all run-s run-p wait-on cross-env dotenv tsx swc ctags cloc tokei scc hadolint actionlint " +
    "shellcheck shfmt typos codespell vale markdownlint prettierd openssl ssh-keygen gpg curl wget http xh gem pip pip3 " +
    "pre-commit changeset commitlint commitizen cz knip depcheck madge size-limit http-server serve live-server " +
    "crontab mktemp mkfifo mount lsof ss netstat ip ping dig who id groups logger tput stty clear history"
  ).split(" "),
);

/** Whether its first words mean a change to shared systems, or an irreversible one. */
export function hasGraveVerb({ program, args }: ProgramCall): boolean {
  if (local.has(program) || program.includes(".")) return false;
  if (programs.test(program) || args.some(({ text }) => options.test(text))) return true;
  const words = positional(args).map(({ text }) => text);
  return words.slice(0, 4).some((word, i) => {
    const isAlone = i < 2 && clear.test(word) && !/[./]/u.test(word);
    if (i > 0 && words.length > i + 1 && behind.test(word) && !/[./]/u.test(words[0] ?? "")) return true;
    return isAlone || (likely.test(word) && (words.length > i + 1 || i > 0 || args.length > 1));
  });
}

const target =
  /(?:^|[:_./+-])(?:un)?(?:publish|deploy|upload|release|promote|rollback|destroy)(?:$|[:_-](?!check|dry|local|test|notes|build|lint|docs|types)|(?=[A-Z])(?!ToMavenLocal|Local))/u;

const script =
  /^(?:un)?(?:deploy|publish|release|rollback|promote)(?:[-_:](?:prod|production|staging|all|live))?(?:\.\w+)?$/u;

/** Whether the name of a script means so. */
export function isGraveScript(name: string): boolean {
  return script.test(name.slice(name.lastIndexOf("/") + 1));
}

/** Whether the name of a target or task means so. */
export function isGraveTarget(name: string): boolean {
  return target.test(name);
}
