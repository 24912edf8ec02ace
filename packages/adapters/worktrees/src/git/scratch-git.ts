/** A git folder of our own over the objects of a repository, so that no setting of the repository is in force. */
import { existsSync, lstatSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { type Failure, failure } from "@lathe/protocol";
import { type Env, homeFolder } from "@lathe/system";
import type { RepositoryPlace } from "@lathe/system/git";
import { allRefs, plainBytes, plainSettings, plainText, readHead } from "@lathe/system/git";
import { type SparseCheckout, sparseCheckoutOf, sparseSettings } from "./sparse-checkout.ts";

type Settings = ReadonlyMap<string, string>;

const maxSettings = 4 * 1024 * 1024;
const maxRules = 4 * 1024 * 1024;
const maxIndex = 1024 * 1024 * 1024;

/** Settings that say how bytes become files, with the values they may have. All others are left out. */
const copied: Readonly<Record<string, RegExp>> = {
  "core.autocrlf": /^(?:true|false|input)$/i,
  "core.eol": /^(?:lf|crlf|native)$/i,
  "core.filemode": /^(?:true|false)$/i,
  "core.symlinks": /^(?:true|false)$/i,
  "core.ignorecase": /^(?:true|false)$/i,
  "core.precomposeunicode": /^(?:true|false)$/i,
};

/** *Contract:* a failure for a kind of repository that is not supported; throws file system errors. */
export function makeScratchGit(folder: string, place: RepositoryPlace, env: Env): Failure | undefined {
  const own = plainSettings(plainText(join(place.common, "config"), maxSettings) ?? "");
  if (!own) return unread(place.top, "git would refuse its settings");
  const format = own.get("extensions.objectformat")?.toLowerCase() ?? "sha1";
  const refs = own.get("extensions.refstorage")?.toLowerCase() ?? "files";
  if (refs !== "files") return unread(place.top, `its refs are kept as "${refs}"`);
  if (format !== "sha1" && format !== "sha256")
    return unread(place.top, `its objects are named by "${format}"`);
  const lender = lenderOutside(place);
  if (lender !== undefined) return borrowing(place, lender);
  for (const name of ["refs", "info"]) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  const user = userSettings(env);
  const sparse = sparseCheckoutOf(place);
  writeFileSync(join(folder, "config"), settingsText(format, new Map([...user, ...own]), sparse));
  if (sparse) writeFileSync(join(folder, "info", "sparse-checkout"), sparse.rules);
  const home = homeFolder(env);
  const rules = (name: string, of: string): string =>
    [
      userRules(user.get(`core.${name}`), of, { env, home }),
      plainText(join(place.common, "info", of === "ignore" ? "exclude" : of), maxRules),
    ]
      .map((text) => text ?? "")
      .join("\n");
  writeFileSync(join(folder, "info", "exclude"), rules("excludesfile", "ignore"));
  writeFileSync(join(folder, "info", "attributes"), rules("attributesfile", "attributes"));
  const shallow = plainBytes(join(place.common, "shallow"), maxSettings);
  if (shallow) writeFileSync(join(folder, "shallow"), shallow);
  const { commit } = readHead(place) ?? {};
  writeFileSync(join(folder, "HEAD"), `${commit ?? "ref: refs/heads/none"}\n`);
  return undefined;
}

function unread(top: string, why: string): Failure {
  const text = `${top} is a git repository of a kind that Lathe does not read: ${why}`;
  return failure("invalid-arguments", text, { who: "user" });
}

/** A folder of objects that the repository borrows from, and that git in the sandbox cannot see. */
function lenderOutside({ top, gitFolder, common }: RepositoryPlace): string | undefined {
  const objects = join(common, "objects");
  const lines = (plainText(join(objects, "info", "alternates"), maxSettings) ?? "").split("\n");
  const lenders = lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => resolve(objects, line));
  const shown = [top, gitFolder, common];
  return lenders.find((path) => !shown.some((folder) => path.startsWith(`${folder}/`)));
}

function borrowing({ top, common }: RepositoryPlace, lender: string): Failure {
  const text = `${top} borrows objects from ${lender}, which git in the sandbox cannot read: copy them with \`git repack -a -d\`, then delete ${join(common, "objects/info/alternates")}`;
  return failure("invalid-arguments", text, { who: "user" });
}

/** Adds the branches and tags of the repository. */
export function addRefs(folder: string, { common }: RepositoryPlace): void {
  const lines = [...allRefs(common)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, id]) => `${id} ${name}\n`);
  writeFileSync(join(folder, "packed-refs"), `# pack-refs with: sorted \n${lines.join("")}`);
}

/**
 * Copies an index, with the other half of a split one; undefined where there is none. Keeps its time: git compares the
 * content of files that were written as late as their index.
 */
export function addIndex(folder: string, index: string, own: string): string | undefined {
  const stats = lstatSync(index, { throwIfNoEntry: false });
  const bytes = plainBytes(index, maxIndex);
  if (!stats || !bytes) return undefined;
  writeFileSync(own, bytes);
  utimesSync(own, stats.atime, stats.mtime);
  const around = dirname(index);
  for (const half of readdirSync(around).filter((one) => /^sharedindex\.[0-9a-f]+$/.test(one))) {
    const other = existsSync(join(folder, half)) ? undefined : plainBytes(join(around, half), maxIndex);
    if (other) writeFileSync(join(folder, half), other);
  }
  return own;
}

function settingsText(format: string, settings: Settings, sparse: SparseCheckout | undefined): string {
  const kept = Object.entries(copied).flatMap(([name, values]) => {
    const value = settings.get(name);
    return value !== undefined && values.test(value) ? [`\t${name.slice("core.".length)} = ${value}\n`] : [];
  });
  return [
    "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tfsmonitor = false\n\thooksPath = /dev/null\n",
    "\tuntrackedCache = false\n\texcludesFile = /dev/null\n\tattributesFile = /dev/null\n\tlogAllRefUpdates = false\n",
    "\tquotePath = false\n\tsafecrlf = false\n",
    ...kept,
    sparse ? sparseSettings(sparse) : "",
    `[extensions]\n\tobjectFormat = ${format}\n`,
    "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[log]\n\tshowSignature = false\n[protocol]\n\tallow = never\n",
    "[submodule]\n\trecurse = false\n[index]\n\tversion = 2\n",
  ].join("");
}

/** The settings of the user; of these, too, only the copied ones are used. */
function userSettings(env: Env): Settings {
  const home = homeFolder(env);
  const config = configHome(env, home);
  const named = env.GIT_CONFIG_GLOBAL;
  const files = [
    ...(env.GIT_CONFIG_NOSYSTEM ? [] : ["/etc/gitconfig"]),
    ...(named === undefined ? [join(config, "git", "config"), join(home, ".gitconfig")] : [named]),
  ];
  return new Map(files.flatMap((file) => [...(plainSettings(plainText(file, maxSettings) ?? "") ?? [])]));
}

function configHome(env: Env, home: string): string {
  const config = env.XDG_CONFIG_HOME;
  return config && isAbsolute(config) ? config : join(home, ".config");
}

/** A file of the user for all repositories, at the place that settings name, else at git's own. */
function userRules(
  said: string | undefined,
  name: string,
  { env, home }: { readonly env: Env; readonly home: string },
): string | undefined {
  const path = said?.startsWith("~/") ? join(home, said.slice(2)) : said;
  if (path !== undefined && !isAbsolute(path)) return undefined;
  return plainText(path ?? join(configHome(env, home), "git", name), maxRules);
}
