/** The folders that commands find in the scratch folder: their own home, and one for temporary files. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type Failure, failure, type SandboxSpec } from "@lathe/protocol";
import { kindOf, realPlace } from "@lathe/system/paths";
import { keepAnswers } from "../paths/kept-answers.ts";

/** The harness's own folder in the scratch folder; drivers that contain commands hide it from them. */
export const controlFolder = ".lathe-box";

/** Caches below the home that programs need offline; they are linked, not copied. */
export const homeCaches: readonly string[] = [".cargo/registry", ".cargo/git", "go/pkg/mod", ".local/lib"];

/**
 * Makes the folders. Returns a failure if the workspace is missing; throws if the scratch folder is not
 * writable.
 */
export function prepareFolders({ workspace, scratch }: SandboxSpec, userHome: string): Failure | undefined {
  if (!existsSync(workspace))
    return failure("not-found", `there is no workspace ${workspace}`, { who: "host" });
  const home = join(scratch, "home");
  const isNew = makeFolder(home);
  for (const name of ["tmp", controlFolder]) makeFolder(join(scratch, name));
  linkCaches(userHome, home, isNew);
  const settings = join(home, ".gitconfig");
  // Commits fail without a name. The user's other settings may hold secrets and name programs.
  if (isNew || !kindOf(settings)) writeFileSync(settings, gitSettings(userHome, workspace), { flag: "wx" });
  return undefined;
}

/**
 * Returns whether the folder was new. Commands can write here: if a link is in its place, only the link is
 * removed.
 */
function makeFolder(path: string): boolean {
  const kind = kindOf(path);
  if (kind?.isDirectory()) return false;
  if (kind) unlinkSync(path);
  mkdirSync(path, { recursive: true });
  return true;
}

function linkCaches(userHome: string, home: string, isNew: boolean): void {
  for (const name of homeCaches) {
    const [from, to] = [join(userHome, name), join(home, name)];
    if (!existsSync(from) || (!isNew && lstatSync(to, { throwIfNoEntry: false }))) continue;
    // A link made by a command may be on the way, and could lead anywhere.
    if (realPlace(dirname(to)) !== join(realPlace(home), dirname(name))) continue;
    mkdirSync(dirname(to), { recursive: true });
    symlinkSync(from, to);
  }
}

const keep = keepAnswers<string>();

function gitSettings(userHome: string, workspace: string): string {
  const user = keep(userHome, ({ content }) => {
    const files = [".config/git/config", ".gitconfig"].map((name) => join(userHome, name));
    for (const file of files) content(file);
    return files.map(userSection).join("");
  });
  return `${user.value}[safe]\n\tdirectory = ${JSON.stringify(workspace)}\n`;
}

function userSection(path: string): string {
  if (!existsSync(path)) return "";
  const section = /^\[user\][^\n]*\n((?:(?!\[).*\n?)*)/mu.exec(readFileSync(path, "utf8"))?.[1] ?? "";
  const lines = section.split("\n").filter((line) => /^\s*(name|email)\s*=/u.test(line));
  return lines.length > 0 ? `[user]\n${lines.join("\n")}\n` : "";
}
