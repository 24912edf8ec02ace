/** Set-up: how to install a project's packages by its own means, and which runner runs its tests. */
import { parseJson, quoteWordIfNeeded } from "@lathe/protocol";
import { parse } from "smol-toml";
import type { Language } from "./candidates.ts";

export type RunnerName = "pytest" | "vitest" | "jest" | "mocha" | "ava" | "node";

export interface RunnerChoice {
  readonly runner: RunnerName;
  readonly args: readonly string[];
  /** Arguments for the whole suite, if the runner does not find it by itself. */
  readonly suite: readonly string[];
}

export interface SetUp {
  /** The base image as a Dockerfile names it. */
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
  /** Files that must exist first; all of the project's if absent. */
  readonly manifests?: readonly string[];
  readonly run: readonly string[];
}

/** Reads a file of the project; undefined if it is missing. */
export type ReadText = (path: string) => string | undefined;

export interface Tools {
  /** For example `3.11`. */
  readonly python: string;
  /** For example `24`. */
  readonly node: string;
  /** Whether pnpm is available. */
  readonly pnpm: boolean;
}

/** Set-ups to try, most likely first. */
export function setUpsOf(language: Language, read: ReadText, tools: Tools): readonly SetUp[] {
  return language === "python" ? pythonSetUps(read, tools) : [nodeSetUp(read, tools)];
}

/** Files whose change requires a new set-up. */
export const manifestNames: Readonly<Record<Language, readonly string[]>> = {
  python: ["pyproject.toml", "setup.py", "setup.cfg"],
  node: ["package.json", "package-lock.json", "pnpm-lock.yaml", ".npmrc"],
};

function nodeSetUp(read: ReadText, tools: Tools): SetUp {
  const manifests = manifestNames.node.filter((name) => read(name) !== undefined && name !== ".npmrc");
  const base = `node:${tools.node}`;
  if (manifests.includes("package-lock.json"))
    return { base, env: {}, manifests, run: ["npm ci --ignore-scripts --no-audit --no-fund"] };
  if (manifests.includes("pnpm-lock.yaml") && tools.pnpm)
    return { base, env: {}, manifests, run: ["pnpm install --frozen-lockfile --ignore-scripts"] };
  const install = "npm install --ignore-scripts --no-audit --no-fund --no-package-lock --legacy-peer-deps";
  return { base, env: {}, manifests: ["package.json"], run: [install] };
}

/** The ignore file is inside the folder itself, so git does not report it. */
const venv = "python3 -m venv .venv && echo '*' > .venv/.gitignore";
const requirementFiles = [
  "requirements-test.txt",
  "requirements-tests.txt",
  "test-requirements.txt",
  "requirements/tests.txt",
  "requirements-dev.txt",
  "tests/requirements.txt",
  "requirements.txt",
];

function pythonSetUps(read: ReadText, tools: Tools): readonly SetUp[] {
  const base = `python:${tools.python}`;
  const texts = manifestNames.python.map((name) => read(name) ?? "").join("\n");
  const named = /\b(?:setuptools[-_]scm|hatch-vcs|pbr|versioningit|poetry-dynamic-versioning)\b/.test(texts);
  const version = { SETUPTOOLS_SCM_PRETEND_VERSION: "1.0.0", PBR_VERSION: "1.0.0" };
  const env = { PATH: "/app/.venv/bin:$PATH", ...(named && version) };
  const pip = ".venv/bin/python -m pip install -q --disable-pip-version-check";
  const extras = extrasOf(read).filter((name) => /^(?:tests?|testing|dev)$/i.test(name));
  const groups = groupsOf(read);
  const files = requirementFiles.filter((name) => read(name) !== undefined);
  const ways = [
    ...(groups.length > 0 ? [`${pip} -e . pytest ${groups.map(quoteWordIfNeeded).join(" ")}`] : []),
    ...extras.map((name) => `${pip} -e '.[${name}]' pytest`),
    ...files.map((name) => `${pip} -e . pytest -r ${name}`),
    `${pip} -e . pytest`,
    // A project without packaging runs from its own folder.
    `${pip} pytest`,
  ];
  return ways.map((way) => ({ base, env, run: [venv, way] }));
}

type Table = Readonly<Record<string, unknown>>;

function projectOf(read: ReadText): Table {
  try {
    return parse(read("pyproject.toml") ?? "") as Table;
  } catch {
    return {};
  }
}

function extrasOf(read: ReadText): readonly string[] {
  const project = projectOf(read).project as Table | undefined;
  const declared = Object.keys((project?.["optional-dependencies"] as Table | undefined) ?? {});
  const section = /\[options\.extras_require\]([^[]*)/.exec(read("setup.cfg") ?? "")?.[1] ?? "";
  const old = [...section.matchAll(/^(\w+)\s*=/gm)].map(([, name = ""]) => name);
  const called = /extras_require\s*=\s*\{([\s\S]*?)\}/.exec(read("setup.py") ?? "")?.[1] ?? "";
  const oldest = [...called.matchAll(/["'](\w+)["']\s*:/g)].map(([, name = ""]) => name);
  return [...new Set([...declared, ...old, ...oldest])].filter((name) => /^[\w-]+$/.test(name));
}

/** Requirements of the groups that tests need, including those of nested groups. */
function groupsOf(read: ReadText): readonly string[] {
  const groups = (projectOf(read)["dependency-groups"] ?? {}) as Readonly<Record<string, readonly unknown[]>>;
  const wanted = Object.keys(groups).filter((name) => /^(?:tests?|testing|dev)$/i.test(name));
  const name = wanted.find((one) => /^test/i.test(one)) ?? wanted[0];
  const of = (group: string, depth: number): readonly string[] =>
    (Array.isArray(groups[group]) && depth < 5 ? groups[group] : []).flatMap((one) => {
      if (typeof one === "string") return [one];
      const included = (one as { readonly "include-group"?: unknown } | null)?.["include-group"];
      return typeof included === "string" ? of(included, depth + 1) : [];
    });
  return name === undefined ? [] : of(name, 0).filter((one) => !/^[\s-]/.test(one));
}

interface Manifest {
  readonly scripts?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Table;
  readonly devDependencies?: Table;
}

/** Undefined if the project's files name no known runner. */
export function runnerOf(language: Language, read: ReadText): RunnerChoice | undefined {
  if (language === "python") return { runner: "pytest", args: [], suite: [] };
  const manifest = parseJson(read("package.json") ?? "") as Manifest | undefined;
  if (!manifest) return undefined;
  const scripts = Object.values(manifest.scripts ?? {}).filter((one) => typeof one === "string");
  const has = (name: string): boolean =>
    manifest.devDependencies?.[name] !== undefined || manifest.dependencies?.[name] !== undefined;
  for (const runner of ["vitest", "jest", "ava"] as const)
    if (has(runner)) return { runner, args: [], suite: [] };
  if (has("mocha")) return { runner: "mocha", ...wordsAfter(scripts, /\bmocha\b/) };
  const calls = scripts.filter((script) => /\bnode\b.*--test\b/.test(script));
  return calls.length > 0 ? { runner: "node", ...wordsAfter(calls, /\bnode\b/), suite: [] } : undefined;
}

/** Flags that control how files are loaded; Lathe sets reporters, coverage and the like itself. */
const kept =
  /^(?:-r|--require|--import|--loader|--experimental-loader|--extension|--ui|-u|--file|--conditions|-C)$/;
const keptAlone = /^(?:--recursive|--check-leaks|--exit|--enable-source-maps|--experimental-[\w-]+)$/;
const withValue =
  /^(?:--reporter|-R|--reporter-options?|-O|--timeout|-t|--grep|-g|--test-reporter|--slow|-s)$/;

function wordsAfter(scripts: readonly string[], program: RegExp): Pick<RunnerChoice, "args" | "suite"> {
  const script = scripts.find((one) => program.test(one)) ?? "";
  const call = script.slice(script.search(program)).split(/&&|\|\||;|\|/)[0] ?? "";
  const words = (call.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).map((word) => word.replace(/["']/g, ""));
  const args: string[] = [];
  const suite: string[] = [];
  let takes: "kept" | "left" | undefined;
  for (const word of words.slice(1)) {
    if (takes === "kept") args.push(word);
    else if (takes === undefined && isKept(word)) args.push(word);
    else if (takes === undefined && !word.startsWith("-")) suite.push(word);
    takes = takes === undefined ? followerOf(word) : undefined;
  }
  return { args, suite };
}

function isKept(word: string): boolean {
  return keptAlone.test(word) || kept.test(word.split("=")[0] ?? "");
}

/** Whether the next word is kept or dropped, if it is a flag's value. */
function followerOf(word: string): "kept" | "left" | undefined {
  if (kept.test(word)) return "kept";
  return withValue.test(word) ? "left" : undefined;
}
