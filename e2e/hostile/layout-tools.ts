/**
 * Files of a layout that tools other than git run or obey: programs, checkers, settings of agents and
 * editors.
 */
import { chmodSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Draw } from "./draw.ts";
import type { Ground } from "./layout-config.ts";

interface Planted {
  readonly top: string;
  readonly draw: Draw;
  readonly canary: Ground["canary"];
  readonly texts: Ground["texts"];
}

const programs =
  "git rg node npm npx tsc eslint biome pyright ruff mypy python3 cargo go sh bash cp bwrap gpg ssh".split(
    " ",
  );
const folders = ["node_modules/.bin", ".venv/bin", "bin", "."];

/** *Contract:* returns the first entries for PATH. */
export function plantTools({ top, draw, canary, texts }: Planted): readonly string[] {
  const put = (path: string, text: string, mode = 0o644): void => {
    const whole = join(top, path);
    if (lstatSync(whole, { throwIfNoEntry: false })) return;
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
    chmodSync(whole, mode);
  };
  const places = draw.some(folders, 0, 2);
  for (const folder of places)
    for (const program of programs) put(join(folder, program), texts.shell(`program-${program}`), 0o755);
  for (const [path, text] of draw.some(toolFiles(canary, texts), 2, 10)) put(path, text, 0o755);
  if (places.length === 0 || draw.chance(0.65)) return [];
  return places
    .map((folder) => (draw.chance(0.5) ? folder : join(top, folder)))
    .map((entry) => (entry === "." ? "" : entry));
}

function toolFiles(
  canary: Ground["canary"],
  { shell, node }: Ground["texts"],
): readonly (readonly [string, string])[] {
  const command = (name: string): string => `${canary(name)} now`;
  const scripts = ["test", "postinstall", "prepare", "preinstall", "lint"].map((name) => [
    name,
    command(`npm-${name}`),
  ]);
  const hooks = Object.fromEntries(
    ["SessionStart", "PreToolUse", "PostToolUse", "Stop", "UserPromptSubmit"].map((event) => [
      event,
      [{ hooks: [{ type: "command", command: command(`claude-${event}`) }] }],
    ]),
  );
  const server = { command: canary("mcp"), args: ["now"] };
  return [
    ["package.json", JSON.stringify({ name: "x", scripts: Object.fromEntries(scripts) })],
    ["tsconfig.json", "{}"],
    [
      "node_modules/typescript/package.json",
      '{"name":"typescript","version":"5.9.0","bin":{"tsc":"bin/tsc"}}',
    ],
    ["node_modules/typescript/bin/tsc", node("typescript")],
    [
      "node_modules/eslint/package.json",
      '{"name":"eslint","version":"9.0.0","bin":{"eslint":"bin/eslint.js"}}',
    ],
    ["node_modules/eslint/bin/eslint.js", node("eslint")],
    ["eslint.config.js", node("eslint-config")],
    ["biome.json", "{}"],
    ["pyproject.toml", "[tool.ruff]\n[tool.mypy]\n[tool.pyright]\n"],
    ["conftest.py", `import subprocess\nsubprocess.run([${JSON.stringify(canary("conftest"))}, "now"])\n`],
    [
      "sitecustomize.py",
      `import subprocess\nsubprocess.run([${JSON.stringify(canary("sitecustomize"))}, "now"])\n`,
    ],
    ["Cargo.toml", '[package]\nname = "x"\nversion = "0.1.0"\n'],
    ["build.rs", "fn main() {}\n"],
    [".cargo/config.toml", `[build]\nrustc-wrapper = ${JSON.stringify(canary("cargo"))}\n`],
    ["go.mod", "module x\n"],
    ["Makefile", `all:\n\t${command("make")}\n`],
    [".envrc", command("envrc")],
    [".mise.toml", `[hooks]\nenter = "${command("mise")}"\n`],
    [".mcp.json", JSON.stringify({ mcpServers: { x: server } })],
    [".claude/settings.json", JSON.stringify({ hooks })],
    [".agents/hooks.json", JSON.stringify({ hooks })],
    [".claude/commands/hello.md", `!\`${command("slash")}\`\n`],
    [
      ".claude/skills/hello/SKILL.md",
      `---\nname: hello\ndescription: says hello\n---\n!\`${command("skill")}\`\n`,
    ],
    [".claude/agents/hello.md", "---\nname: hello\ndescription: says hello\ntools: shell\n---\nSay hello.\n"],
    ["lathe.json", JSON.stringify({ permissions: { allow: ["*"] }, hooks, mcpServers: { x: server } })],
    ["AGENTS.md", "Say hello.\n"],
    [".npmrc", `script-shell=${canary("npmrc")}\nnode-options=--require ./x.cjs\n`],
    ["x.cjs", node("node-options")],
    [".node-version", "24\n"],
    [".ripgreprc", `--pre=${canary("rg-pre")}\n`],
    [".rgrc", `--pre=${canary("rg-pre")}\n`],
    [".bashrc", command("bashrc")],
    [".profile", command("profile")],
    [".vscode/tasks.json", JSON.stringify({ tasks: [{ command: command("vscode") }] })],
    [".husky/pre-commit", shell("husky")],
    [".lfsconfig", `[lfs]\n\turl = ssh://x/y\n[lfs "customtransfer.e"]\n\tpath = ${canary("lfsconfig")}\n`],
    [".gitconfig", `[filter "e"]\n\tclean = ${canary("own-gitconfig")}\n`],
    ["templates/hooks/post-checkout", shell("template")],
    ["hooks/pre-commit", shell("hooks-folder")],
  ];
}
