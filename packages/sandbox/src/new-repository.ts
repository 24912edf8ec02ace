/** Takes out of a repository that a command made what git on the host would run. */
import { join } from "node:path";
import { inFolder, type PinnedFolder } from "./pinned-folder.ts";

/** Settings that name no program and no other file; in lower case, without the name of a part. */
const harmless: ReadonlySet<string> = new Set([
  ..."repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf"
    .split(" ")
    .map((key) => `core.${key}`),
  ..."remote.fetch branch.remote branch.merge branch.rebase user.name user.email init.defaultbranch pull.rebase".split(
    " ",
  ),
  ..."submodule.url submodule.active submodule.branch extensions.objectformat extensions.refstorage".split(
    " ",
  ),
  ..."push.default push.autosetupremote commit.gpgsign fetch.prune merge.ff".split(" "),
]);

/** *Contract:* what it took out, by name; empty when there was nothing. */
export function cleanNewRepository(git: string, workspace: string): readonly string[] {
  const taken = inFolder(git, workspace, (folder) => {
    // A link in place of the hooks' folder; the folder itself stays.
    const links = ["hooks", "commondir", "config.worktree"].filter((name) => folder.remove(name));
    return [...links, ...cleanConfig(folder)];
  });
  const hooks = inFolder(join(git, "hooks"), workspace, (folder) =>
    folder.names().filter((name) => !name.endsWith(".sample") && folder.remove(name)),
  );
  return [...(taken ?? []), ...(hooks ?? []).map((name) => `hooks/${name}`)];
}

function cleanConfig(folder: PinnedFolder): readonly string[] {
  const text = folder.read("config");
  if (text === undefined) return folder.remove("config") ? ["config"] : [];
  const { kept, removed } = sift(text);
  if (removed.length > 0) folder.write("config", kept);
  return removed.map((key) => `config (${key})`);
}

/** Line by line; what does not read like git's own writing goes too. */
function sift(text: string): { readonly kept: string; readonly removed: readonly string[] } {
  const kept: string[] = [];
  const removed: string[] = [];
  let section: string | undefined;
  for (const line of text.split("\n")) {
    const header = /^\[([\w-]+)(?: "[^"\\\]]*")?\]\s*$/u.exec(line);
    if (header) section = header[1]?.toLowerCase();
    const setting = /^\s+([\w-]+)\s*=\s*(.*)$/u.exec(line);
    if (header || line.trim() === "" || (section && setting && isHarmless(section, setting))) {
      kept.push(line);
      continue;
    }
    removed.push(setting ? `${section}.${setting[1]}` : line.trim().slice(0, 40));
    // What stands under a header that cannot be read belongs to nothing.
    if (line.trim().startsWith("[")) section = undefined;
  }
  return { kept: kept.join("\n"), removed };
}

function isHarmless(section: string, [, key = "", value = ""]: RegExpExecArray): boolean {
  const name = `${section}.${key.toLowerCase()}`;
  if (value.endsWith("\\")) return false;
  // `ext::` and its like run a program.
  return name === "remote.url" || name === "submodule.url" ? !value.includes("::") : harmless.has(name);
}
