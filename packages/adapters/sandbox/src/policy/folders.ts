/** The folders a sandbox's commands find in the scratch folder: a home of their own, and one for temporary files. */
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

/** The harness's own folder in the scratch folder; drivers that contain hide it from commands. */
export const controlFolder = ".lathe-box";

/** What programs look for below the home and cannot do without offline; linked to, not copied. */
export const homeCaches: readonly string[] = [".cargo/registry", ".cargo/git", "go/pkg/mod", ".local/lib"];

/** Makes the folders; a failure when the workspace is missing. Throws when the scratch folder cannot be written. */
export function prepareFolders({ workspace, scratch }: SandboxSpec, userHome: string): Failure | undefined {
  if (!existsSync(workspace))
    return failure("not-found", `there is no workspace ${workspace}`, { who: "host" });
  const home = join(scratch, "home");
  const isNew = makeFolder(home);
  for (const name of ["tmp", controlFolder]) makeFolder(join(scratch, name));
  linkCaches(userHome, home, isNew);
  const settings = join(home, ".gitconfig");
  // Without a name commits fail; the user's other settings may hold secrets and name programs.
  if (isNew || !kindOf(settings)) writeFileSync(settings, gitSettings(userHome, workspace), { flag: "wx" });
  return undefined;
}

/** Whether it was not there. Commands have written here: of a link in its place only the link goes. */
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
    // A link on the way, which a command has made, leads anywhere.
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
