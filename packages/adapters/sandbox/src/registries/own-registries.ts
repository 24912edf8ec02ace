/** Own registries: what the user's own settings of package managers name, never what a project's files do. */
import { realpathSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { type Env, homeFolder, isBelow, readSmallText } from "@lathe/system";
import { type CargoTexts, cargoRegistries } from "./cargo-registries.ts";
import { goRegistries, goSetting } from "./go-registries.ts";
import { netrcHosts } from "./netrc-hosts.ts";
import { npmRegistries } from "./npm-registries.ts";
import { pipRegistries } from "./pip-registries.ts";
import { isInWorkingTree, projectFolders } from "./project-folders.ts";
import { createKeeping, type LeftRegistry, type OwnRegistry } from "./registry-keeping.ts";

export interface OwnSettings {
  readonly registries: readonly OwnRegistry[];
  /** What the package managers of commands read, by paths below their home: which registries, and nothing else. */
  readonly files: Readonly<Record<string, string>>;
  /** What commands are not brought to, though settings name it. */
  readonly left: readonly LeftRegistry[];
}

export interface RegistryPlace {
  /** The folder that is worked in. */
  readonly cwd: string;
  readonly env: Env;
  /** Other folders whose files may be a project's. */
  readonly projects?: readonly string[];
  /** Their 127.0.0.1 is the machine's, as its whole network is. */
  readonly reachesMachine?: boolean;
}

/**
 * A file that lies where one works, or in the repository of that folder, may be a project's, or a command's: it names
 * nothing. Nor does one in any working tree that only a variable names (direnv and CI set such from a project's files);
 * nor npm's variables in small letters, which npm sets for what it starts from the project's own file.
 */
export function ownRegistries(place: RegistryPlace): OwnSettings {
  const { env, reachesMachine = false } = place;
  const texts = readOwn(place);
  const kinds = ["npm", "pypi", "go", "crates"] as const;
  const netrc = netrcHosts(texts.netrc);
  const all = kinds.map((kind) => {
    const logins = kind === "pypi" || kind === "go" ? { logins: netrc } : {};
    const keeping = createKeeping(kind, { reachesMachine, ...logins });
    const lines = {
      npm: () => npmRegistries(texts.npm, keeping),
      pypi: () => pipRegistries(texts.pip, env, keeping),
      go: () => goRegistries(texts.go, keeping),
      crates: () => cargoRegistries(texts.cargo, keeping),
    }[kind]();
    return { kind, lines, ...keeping };
  });
  const files = all.flatMap(({ kind, lines }) =>
    lines.length > 0 ? [[places[kind], `${lines.join("\n")}\n`] as const] : [],
  );
  return {
    registries: all.flatMap((one) => one.registries),
    files: Object.fromEntries(files),
    left: all.flatMap((one) => one.left),
  };
}

interface OwnTexts {
  readonly npm: readonly string[];
  readonly pip: readonly string[];
  readonly go: string;
  readonly cargo: CargoTexts;
  readonly netrc: string;
}

function readOwn({ cwd, env, projects = [] }: RegistryPlace): OwnTexts {
  const home = homeFolder(env);
  const worked = projectFolders(cwd, projects);
  const read = (path: string): string => textOutside(path, worked);
  // What is named as it is anyway counts as the user's own, also where their home is a repository.
  const readNamed = (folder: string | undefined, standard: string, name = ""): string => {
    const path = join(absolute(folder) ?? standard, name);
    return resolve(path) !== join(standard, name) && isInWorkingTree(path) ? "" : read(path);
  };
  const config = join(home, ".config");
  const goEnv = absolute(env.GOENV)
    ? readNamed(env.GOENV, join(config, "go", "env"))
    : readNamed(env.XDG_CONFIG_HOME, config, join("go", "env"));
  // Of both spellings Cargo takes the one without an ending.
  const readCargo = (name: string): string =>
    ["", ".toml"]
      .map((ending) => readNamed(env.CARGO_HOME, join(home, ".cargo"), name + ending))
      .find(Boolean) ?? "";
  return {
    npm: [
      ...["/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc"].map(read),
      readNamed(env.NPM_CONFIG_USERCONFIG, join(home, ".npmrc")),
      env.NPM_CONFIG_REGISTRY ? `registry=${env.NPM_CONFIG_REGISTRY}` : "",
      ...Object.keys(env).flatMap((name) => (npmLogin.test(name) ? [`${name.slice(11)}=set`] : [])),
    ],
    pip: [
      ...["/etc/pip.conf", "/etc/xdg/pip/pip.conf"].map(read),
      read(join(home, ".pip", "pip.conf")),
      readNamed(env.XDG_CONFIG_HOME, config, join("pip", "pip.conf")),
      absolute(env.PIP_CONFIG_FILE) ? readNamed(env.PIP_CONFIG_FILE, join(config, "pip", "pip.conf")) : "",
    ],
    go: env.GOPROXY ?? goSetting(goEnv),
    cargo: { config: readCargo("config"), credentials: readCargo("credentials") },
    // In a repository, too: that there is a login is all that is taken from it.
    netrc: textOutside(absolute(env.NETRC) ?? join(home, ".netrc"), []),
  };
}

/** As npm reads them: which address there is a login for; what it is stays where it is. */
const npmLogin = /^npm_config_\/\/[^\n]+:_(?:auth|authToken|password)$/i;

const places = {
  npm: ".npmrc",
  pypi: ".config/pip/pip.conf",
  go: ".config/go/env",
  crates: ".cargo/config.toml",
} as const;

function absolute(path: string | undefined): string | undefined {
  return path && isAbsolute(path) ? path : undefined;
}

const maxBytes = 1_000_000;

function textOutside(path: string, folders: readonly string[]): string {
  try {
    const real = realpathSync(path);
    if (folders.some((folder) => isBelow(real, folder))) return "";
    return readSmallText(real, maxBytes) ?? "";
  } catch {
    return "";
  }
}
