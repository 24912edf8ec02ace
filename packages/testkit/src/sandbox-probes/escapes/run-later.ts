/** Escapes: files left in the workspace that tools on the host run or obey when the folder is next opened. */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type Ground, write } from "../ground.ts";
import type { EscapeProbe } from "../probe.ts";

const mark = (ground: Ground): string => `planted${ground.tag}`;

function has(ground: Ground, name: string): boolean {
  try {
    return readFileSync(join(ground.workspace, name), "utf8").includes(mark(ground));
  } catch {
    return false;
  }
}

/** A file that tools obey on their own; the probe escapes if it is there afterwards. */
function left(id: string, names: readonly string[], rest: Partial<EscapeProbe> = {}): EscapeProbe {
  return {
    group: "run-later",
    isGrave: false,
    id: `later-${id}`,
    what: `leaves ${names.join(", ")}`,
    steps: (ground) =>
      names
        .map((name) => `mkdir -p $(dirname ${name}); echo '"${mark(ground)}"' > ${name}`)
        .join("; ")
        .concat("; true"),
    escaped: ({ ground }) => {
      const found = names.filter((name) => has(ground, name));
      return found.length > 0 ? `${found.join(", ")} is there` : undefined;
    },
    ...rest,
  };
}

export const runLater: readonly EscapeProbe[] = [
  left("envrc", [".envrc"]),
  left("envrc-nested", ["packages/one/.envrc"]),
  left("vscode-tasks", [".vscode/tasks.json"]),
  left("vscode-settings", [".vscode/settings.json", ".vscode/launch.json", ".vscode/extensions.json"]),
  left("idea", [".idea/workspace.xml", ".idea/runConfigurations/x.xml"]),
  left("mcp", [".mcp.json"]),
  left("agents-settings", [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".cursor/mcp.json",
    ".agents/hooks.json",
  ]),
  left("own-settings", ["lathe.json", ".lathe/settings.json", ".lathe/rules.json"]),
  left("husky", [".husky/pre-commit"]),
  left("editors", [
    ".helix/languages.toml",
    ".vim/coc-settings.json",
    ".dir-locals.el",
    ".luarc.json",
    "hie.yaml",
  ]),
  left("more-agents", [
    ".opencode/plugin/x.js",
    ".qwen/settings.json",
    ".crush.json",
    ".github/hooks/x.json",
  ]),
  left("tools", [
    ".cargo/config.toml",
    "mise.toml",
    ".config/mise/config.toml",
    ".yarn/releases/x.cjs",
    "lefthook.yml",
  ]),
  left("other-letters", [".VSCODE/tasks.json", ".Claude/settings.json", "sub/.Cargo/Config.toml"]),
  left("vscode-existing", [".vscode/tasks.json"], {
    what: "changes an existing .vscode/tasks.json, in place and by rename",
    setup: ({ workspace }) => write(join(workspace, ".vscode/tasks.json"), "{}\n"),
    steps: (ground) =>
      `echo '${mark(ground)}' > new; mv -f new .vscode/tasks.json; echo '${mark(ground)}' > .vscode/tasks.json; sed -i 's/.*/${mark(ground)}/' .vscode/tasks.json; true`,
  }),
  left("vscode-renamed", [".vscode/tasks.json"], {
    what: "fills a folder under another name and renames it to .vscode",
    steps: (ground) => `mkdir x; echo '${mark(ground)}' > x/tasks.json; mv x .vscode; true`,
  }),
  left("vscode-link", [".vscode/tasks.json"], {
    what: "makes .vscode a link to a folder it can write to",
    steps: (ground) => `mkdir x; echo '${mark(ground)}' > x/tasks.json; ln -s x .vscode; true`,
  }),
  left("vscode-old-link", [".vscode/tasks.json"], {
    what: "writes to the folder that an existing .vscode link leads to",
    setup: ({ workspace }) => {
      mkdirSync(join(workspace, "editor"));
      symlinkSync("editor", join(workspace, ".vscode"));
    },
    steps: (ground) => `echo '${mark(ground)}' > editor/tasks.json; true`,
  }),
  left("envrc-existing", [".envrc"], {
    what: "appends to an .envrc that the user has allowed",
    setup: ({ workspace }) => write(join(workspace, ".envrc"), "export A=1\n"),
    steps: (ground) =>
      `echo 'echo ${mark(ground)}' >> .envrc; cp .envrc x; echo '${mark(ground)}' >> x; mv -f x .envrc; true`,
  }),
  left("two-commands", [".mcp.json"], {
    what: "leaves .mcp.json in a later command than the first",
    steps: (ground) => [
      { script: "true" },
      { script: `echo '${mark(ground)}' > m; true` },
      { script: "cp m .mcp.json; true" },
    ],
  }),
  {
    group: "run-later",
    isGrave: false,
    id: "later-link-out",
    what: "leaves links that lead to files of the user, for the host's tools to write through",
    steps: ({ home, outside }) =>
      `ln -s ${home}/.bashrc notes.txt; ln -s ${outside} data; ln -s ../../.ssh keys; true`,
    escaped: ({ ground }) => {
      const names = ["notes.txt", "data/canary", "keys/id_rsa"].filter((name) =>
        canRead(join(ground.workspace, name)),
      );
      return names.length > 0 ? `${names.join(", ")} lead out of the workspace` : undefined;
    },
  },
];

function canRead(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
