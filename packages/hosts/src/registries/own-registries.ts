/** Own registries: what the user's own settings of package managers name, never what a project's files do. */
import { readFileSync, realpathSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { homeFolder } from "../home-folder.ts";
import { isIn, isInWorkingTree, projectFolders } from "./project-folders.ts";
import { readSections, type Section } from "./read-sections.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface OwnRegistry {
  readonly kind: "npm" | "pypi" | "go" | "crates";
  /** Of http or https, without a name and password. */
  readonly url: URL;
}

export interface OwnSettings {
  readonly registries: readonly OwnRegistry[];
  /** What the package managers of commands read, by paths below their home: which registries, and nothing else. */
  readonly files: Readonly<Record<string, string>>;
}

interface Found {
  readonly urls: readonly string[];
  readonly text: string;
}

export interface RegistryPlace {
  /** The folder that is worked in. */
  readonly cwd: string;
  readonly env: Env;
  /** Other folders whose files may be a project's. */
  readonly projects?: readonly string[];
}

/**
 * A file that lies where one works, or in the repository of that folder, may be a project's, or a command's: it names
 * nothing. Nor does one in any working tree that only a variable names (direnv and CI set such from a project's files);
 * nor npm's variables in small letters, which npm sets for what it starts from the project's own file.
 */
export function ownRegistries({ cwd, env, projects = [] }: RegistryPlace): OwnSettings {
  const home = homeFolder(env);
  const worked = projectFolders(cwd, projects);
  const read = (path: string): string => textOutside(path, worked);
  // What is named as it is anyway counts as the user's own, also where their home is a repository.
  const readNamed = (folder: string | undefined, standard: string, name = ""): string => {
    const path = join(absolute(folder) ?? standard, name);
    return resolve(path) !== join(standard, name) && isInWorkingTree(path) ? "" : read(path);
  };
  const config = join(home, ".config");
  const npm = fromNpm([
    ...["/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc"].map(read),
    readNamed(env.NPM_CONFIG_USERCONFIG, join(home, ".npmrc")),
    env.NPM_CONFIG_REGISTRY ? `registry=${env.NPM_CONFIG_REGISTRY}` : "",
  ]);
  const pip = fromPip(
    [
      ...["/etc/pip.conf", "/etc/xdg/pip/pip.conf"].map(read),
      read(join(home, ".pip", "pip.conf")),
      readNamed(env.XDG_CONFIG_HOME, config, join("pip", "pip.conf")),
      ...(absolute(env.PIP_CONFIG_FILE)
        ? [readNamed(env.PIP_CONFIG_FILE, join(config, "pip", "pip.conf"))]
        : []),
    ],
    env,
  );
  const goEnv = absolute(env.GOENV)
    ? readNamed(env.GOENV, join(config, "go", "env"))
    : readNamed(env.XDG_CONFIG_HOME, config, join("go", "env"));
  const go = fromGo(env.GOPROXY ?? goSetting(goEnv));
  const readCargo = (name: string): string => readNamed(env.CARGO_HOME, join(home, ".cargo"), name);
  const cargo = fromCargo([readCargo("config"), readCargo("config.toml")]);
  const all = { npm, pypi: pip, go, crates: cargo } as const;
  const kinds = Object.keys(all) as readonly OwnRegistry["kind"][];
  const registries = kinds.flatMap((kind) => all[kind].urls.flatMap((url) => registryOf(kind, url)));
  const files = Object.fromEntries(
    kinds.flatMap((kind) => (all[kind].text ? [[places[kind], all[kind].text]] : [])),
  );
  return { registries, files };
}

const places = {
  npm: ".npmrc",
  pypi: ".config/pip/pip.conf",
  go: ".config/go/env",
  crates: ".cargo/config.toml",
} as const;

function absolute(path: string | undefined): string | undefined {
  return path && isAbsolute(path) ? path : undefined;
}

const mostBytes = 1_000_000;

function textOutside(path: string, folders: readonly string[]): string {
  try {
    const real = realpathSync(path);
    if (folders.some((folder) => isIn(real, folder))) return "";
    const text = readFileSync(real, "utf8");
    return text.length > mostBytes ? "" : text;
  } catch {
    return "";
  }
}

function registryOf(kind: OwnRegistry["kind"], text: string): readonly OwnRegistry[] {
  const url = plainUrl(text);
  return url ? [{ kind, url }] : [];
}

/** Undefined for what is none, or stands for something that only the environment knows. */
function plainUrl(text: string): URL | undefined {
  const url = text.includes("$") ? null : URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === "") return undefined;
  // What logs in to a registry stays with the user.
  url.username = "";
  url.password = "";
  return url;
}

/** Later texts win. */
function fromNpm(texts: readonly string[]): Found {
  const found = new Map<string, string>();
  for (const { values } of texts.flatMap(readSections))
    for (const [name, value] of values)
      if (/^(?:@[\w.~-]+:)?registry$/.test(name) && plainUrl(value)) found.set(name, plainText(value));
  return { urls: [...found.values()], text: lines([...found].map(([name, value]) => `${name}=${value}`)) };
}

function plainText(value: string): string {
  return plainUrl(value)?.href ?? "";
}

const pipNames = ["index-url", "extra-index-url", "trusted-host"] as const;

function fromPip(texts: readonly string[], env: Env): Found {
  const found = new Map<string, readonly string[]>();
  const sections = texts
    .flatMap(readSections)
    .filter(({ name }) => /^(?:global|install|download)$/.test(name));
  for (const { values } of sections)
    for (const [name, value] of values) {
      const plain = name.replaceAll("_", "-");
      if (pipNames.some((one) => one === plain)) found.set(plain, value.split(/\s+/));
    }
  for (const name of pipNames) {
    const value = env[`PIP_${name.replaceAll("-", "_").toUpperCase()}`];
    if (value) found.set(name, value.split(/\s+/));
  }
  const urlsOf = (name: string): readonly string[] =>
    (found.get(name) ?? []).filter((one) => plainUrl(one)).map(plainText);
  const hosts = (found.get("trusted-host") ?? []).filter((one) => /^[\w.:[\]-]+$/.test(one));
  const urls = [...urlsOf("index-url").slice(0, 1), ...urlsOf("extra-index-url")];
  const said = [
    ["index-url", urlsOf("index-url").slice(0, 1)],
    ["extra-index-url", urlsOf("extra-index-url")],
    ["trusted-host", hosts],
  ] as const;
  const own = said.filter(([, values]) => values.length > 0);
  return {
    urls,
    text:
      urls.length > 0
        ? lines(["[global]", ...own.map(([name, values]) => `${name} = ${values.join("\n    ")}`)])
        : "",
  };
}

function goSetting(text: string): string {
  return readSections(text)[0]?.values.find(([name]) => name === "GOPROXY")?.[1] ?? "";
}

/** `direct` and `off` among them stay. */
function fromGo(list: string): Found {
  const words = list.split(/[,|]/).map((word) => word.trim());
  const urls = words.filter((word) => plainUrl(word)).map(plainText);
  const isPlain = words.every(
    (word) => /^(?:direct|off)$/.test(word) || (plainUrl(word) && !/:\/\/[^/]*@/.test(word)),
  );
  return { urls, text: urls.length > 0 && isPlain ? lines([`GOPROXY=${list.trim()}`]) : "" };
}

/** Sources in place of crates.io, and registries beside it; git repositories are none. */
function fromCargo(texts: readonly string[]): Found {
  const kept = texts.flatMap(readSections).flatMap(({ name, values }): readonly Section[] => {
    const wanted = /^source\.[\w"-]+$/.test(name) ? /^(?:registry|replace-with)$/ : /^index$/;
    if (!/^(?:source|registries)\.[\w"-]+$/.test(name)) return [];
    const own = values.filter(
      ([key, value]) => wanted.test(key) && (key === "replace-with" || sparse(value)),
    );
    return own.length > 0 ? [{ name, values: own }] : [];
  });
  const urls = kept.flatMap(({ values }) => values.flatMap(([, value]) => sparse(value) ?? []));
  const toml = kept.flatMap(({ name, values }) => [
    `[${name}]`,
    ...values.map(([key, value]) => {
      const url = sparse(value);
      return `${key} = ${JSON.stringify(url === undefined ? value : `sparse+${url}`)}`;
    }),
  ]);
  return { urls, text: urls.length > 0 ? lines(toml) : "" };
}

function sparse(value: string): string | undefined {
  const url = value.startsWith("sparse+") ? plainUrl(value.slice("sparse+".length)) : undefined;
  return url?.href;
}

function lines(all: readonly string[]): string {
  return all.length > 0 ? `${all.join("\n")}\n` : "";
}
