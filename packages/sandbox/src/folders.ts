/** The folders a sandbox's commands find in the scratch folder: a home of their own, and one for temporary files. */
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Failure, failure, type SandboxSpec } from "@lathe/protocol";

/** The harness's own folder in the scratch folder; drivers that contain hide it from commands. */
export const controlFolder = ".lathe-box";

/** What programs look for below the home and cannot do without offline; linked to, not copied. */
export const homeCaches: readonly string[] = [".cargo/registry", ".cargo/git", "go/pkg/mod", ".local/lib"];

/** Makes the folders; a failure when the workspace is missing. Throws when the scratch folder cannot be written. */
export function prepareFolders({ workspace, scratch }: SandboxSpec, userHome: string): Failure | undefined {
  if (!existsSync(workspace))
    return failure("not-found", `there is no workspace ${workspace}`, { who: "host" });
  for (const name of ["home", "tmp", controlFolder]) mkdirSync(join(scratch, name), { recursive: true });
  const home = join(scratch, "home");
  linkCaches(userHome, home);
  const user = [".config/git/config", ".gitconfig"].map((name) => userSection(join(userHome, name)));
  writeGitSettings(join(home, ".gitconfig"), user.join(""), workspace);
  return undefined;
}

function linkCaches(userHome: string, home: string): void {
  for (const name of homeCaches) {
    const [from, to] = [join(userHome, name), join(home, name)];
    if (!existsSync(from) || lstatSync(to, { throwIfNoEntry: false })) continue;
    mkdirSync(dirname(to), { recursive: true });
    symlinkSync(from, to);
  }
}

/** Without a name commits fail; the user's other settings may hold secrets and name programs. */
function writeGitSettings(path: string, user: string, workspace: string): void {
  if (existsSync(path)) return;
  writeFileSync(path, `${user}[safe]\n\tdirectory = ${JSON.stringify(workspace)}\n`);
}

function userSection(path: string): string {
  if (!existsSync(path)) return "";
  const section = /^\[user\][^\n]*\n((?:(?!\[).*\n?)*)/mu.exec(readFileSync(path, "utf8"))?.[1] ?? "";
  const lines = section.split("\n").filter((line) => /^\s*(name|email)\s*=/u.test(line));
  return lines.length > 0 ? `[user]\n${lines.join("\n")}\n` : "";
}
