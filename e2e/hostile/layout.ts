/** Draws hostile repositories from a seed, with a canary in every place that git or a tool may run. */
import { chmodSync, cpSync, lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Draw, drawFrom } from "./draw.ts";
import { type Tracked, writeGitFiles } from "./git-files.ts";
import { attributes, type Canary, drawConfig, type Ground, hookNames } from "./layout-config.ts";
import { plantTools } from "./layout-tools.ts";

export interface Layout {
  /** The folder in which Lathe starts. */
  readonly cwd: string;
  /** The entries before the machine's own PATH. */
  readonly path: readonly string[];
  /** Describes the drawn layout. */
  readonly about: string;
}

const shapes = [
  "folder",
  "folder",
  "file",
  "file-absolute",
  "commondir",
  "worktree",
  "bare-root",
  "bare-below",
  "above",
  "link",
  "config.worktree",
  "core.worktree",
] as const;

const oddNames = [
  "-rf",
  "a b.txt",
  "$(touch x).txt",
  ";x;.txt",
  "é\u0301.txt",
  "new\nline.txt",
  "--upload-pack=x",
  ".GIT.txt",
];
const branches = ["main", "main", "-x", "a/b", "$(x)", "ö"];

export function makeLayout(seed: number, ground: Ground): Layout {
  const draw = drawFrom(seed);
  const { root, canary, texts } = ground;
  const shape = draw.one(shapes);
  const files = drawFiles(draw);
  const top = join(root, "work");
  const put = (path: string, text: string): void => putFile(top, path, text);
  for (const { path, text } of files) put(path, text);
  const nested = draw.chance(0.4) ? plantNested(top, draw, canary) : [];
  const config = `${core(draw)}${drawConfig(draw, canary, "config")}${drawIncludes(draw, top, canary)}`;
  const git = join(top, ".git");
  const written = { files, links: nested, config, branch: draw.one(branches), ...drawHeader(draw) };
  writeGitFiles(git, written);
  if (draw.chance(0.5)) putFile(git, "info/attributes", draw.one(attributes));
  for (const hook of draw.some(hookNames, 0, hookNames.length)) {
    const folder = draw.one([join(git, "hooks"), join(top, "hooks")]);
    putFile(folder, hook, texts.shell(`hook-${hook}`));
    chmodSync(join(folder, hook), 0o755);
  }
  const cwd = reshape({ shape, top, git, draw, canary });
  const path = plantTools({ top, draw, texts, canary });
  if (draw.chance(0.1)) symlinkSync("/dev/zero", join(top, "endless"));
  return { cwd, path, about: `${shape}, ${nested.length} nested, PATH ${path.join(":") || "as it is"}` };
}

function core(draw: Draw): string {
  const version = draw.one([0, 1]);
  return `[core]\n\trepositoryformatversion = ${version}\n\tbare = ${draw.one([false, false, false, false, false, false, false, true])}\n`;
}

function drawFiles(draw: Draw): readonly Tracked[] {
  const names = ["a.txt", "a.ts", "src/b.ts", "test_a.py", ...draw.some(oddNames, 0, 3)];
  return [
    ...names.map((path) => ({ path, text: `export const value = "${draw.below(10)}";\n` })),
    { path: ".gitattributes", text: draw.one(attributes) },
    ...(draw.chance(0.2) ? [{ path: "src/.gitattributes", text: draw.one(attributes) }] : []),
  ];
}

/** Some settings make git check a commit's signature, which starts a program. */
function drawHeader(draw: Draw): { readonly header?: string } {
  if (!draw.chance(0.3)) return {};
  const kind = draw.one(["PGP SIGNATURE", "SSH SIGNATURE"]);
  return { header: `gpgsig -----BEGIN ${kind}-----\n \n x\n -----END ${kind}-----\n` };
}

function drawIncludes(draw: Draw, top: string, canary: Canary): string {
  if (!draw.chance(0.3)) return "";
  const condition = draw.one(["", ' "onbranch:main"', ` "gitdir:${top}/"`, ' "gitdir:**/work/.git"']);
  const section = condition === "" ? "include" : `includeIf${condition}`;
  putFile(top, "settings/git", drawConfig(draw, canary, "include"));
  return `[${section}]\n\tpath = ${draw.one(["../settings/git", join(top, "settings/git")])}\n`;
}

/** Plants nested repositories: as a folder, behind a `.git` file like submodules, or bare. */
function plantNested(top: string, draw: Draw, canary: Canary): { path: string; commit: string }[] {
  return draw.some(["dep", "lib/part", "vendor"], 1, 2).map((path, at) => {
    const files = drawFiles(draw);
    for (const { path: name, text } of files) putFile(join(top, path), name, text);
    const kind = draw.one(["folder", "module", "bare"] as const);
    const module = `.git/modules/m${at}`;
    const up = path.replace(/[^/]+/gu, "..");
    const { git, worktree } = {
      folder: { git: `${path}/.git`, worktree: ".." },
      module: { git: module, worktree: `../../../${path}` },
      bare: { git: path, worktree: "." },
    }[kind];
    const config = `${core(draw)}\tworktree = ${worktree}\n${drawConfig(draw, canary, `nested-${kind}`)}`;
    const commit = writeGitFiles(join(top, git), { files, config });
    if (kind === "module") {
      putFile(join(top, path), ".git", `gitdir: ${up}/${module}\n`);
      putFile(
        top,
        ".gitmodules",
        submodule(path, draw.chance(0.5) ? canary("gitmodules-update") : undefined),
      );
    }
    return { path, commit };
  });
}

function submodule(path: string, program: string | undefined): string {
  const update = program === undefined ? "" : `\tupdate = !${program} now\n`;
  return `[submodule "dep"]\n\tpath = ${path}\n\turl = ./x\n${update}`;
}

interface Reshaped {
  readonly shape: (typeof shapes)[number];
  readonly top: string;
  readonly git: string;
  readonly draw: Draw;
  readonly canary: Canary;
}

/** Moves the files to fit the shape; returns the folder to start in. */
function reshape({ shape, top, git, draw, canary }: Reshaped): string {
  const toStore = (): void => renameSync(git, join(top, "store"));
  switch (shape) {
    case "folder":
      return top;
    case "file":
    case "file-absolute":
      toStore();
      writeFileSync(git, `gitdir: ${shape === "file" ? "store" : join(top, "store")}\n`);
      return top;
    case "link":
      toStore();
      symlinkSync("store", git);
      return top;
    case "commondir":
      cpSync(git, join(top, "store"), { recursive: true });
      writeFileSync(join(git, "commondir"), "../store\n");
      return top;
    case "worktree":
      plantWorktree(top, git);
      return top;
    case "bare-root":
      for (const name of ["HEAD", "config", "index", "objects", "refs"])
        renameSync(join(git, name), join(top, name));
      putFile(
        top,
        "config",
        `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n${drawConfig(draw, canary, "bare")}`,
      );
      renameSync(git, join(top, "left"));
      return top;
    case "bare-below":
      putFile(
        top,
        "pkg/config",
        `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n${drawConfig(draw, canary, "bare")}`,
      );
      for (const name of ["HEAD", "index", "objects", "refs"])
        cpSync(join(git, name), join(top, "pkg", name), { recursive: true });
      return join(top, "pkg");
    case "above":
      return join(top, "src");
    case "config.worktree":
      putFile(git, "config.worktree", drawConfig(draw, canary, "config.worktree"));
      putFile(
        git,
        "config",
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n",
      );
      return top;
    case "core.worktree":
      putFile(
        git,
        "config",
        `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${draw.one([top, "..", "../src"])}\n${drawConfig(draw, canary, "config")}`,
      );
      return top;
  }
}

/** Makes the files of `git worktree add`, with the repository itself below the workspace. */
function plantWorktree(top: string, git: string): void {
  renameSync(git, join(top, "store"));
  const own = join(top, "store/worktrees/w");
  mkdirSync(own, { recursive: true });
  for (const name of ["HEAD", "index"]) cpSync(join(top, "store", name), join(own, name));
  writeFileSync(join(own, "commondir"), "../..\n");
  writeFileSync(join(own, "gitdir"), `${git}\n`);
  writeFileSync(git, `gitdir: ${own}\n`);
}

/** Overwrites a file, unless a drawn name blocks its path. */
function putFile(folder: string, path: string, text: string): void {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  if (lstatSync(whole, { throwIfNoEntry: false })?.isDirectory()) return;
  writeFileSync(whole, text);
}
