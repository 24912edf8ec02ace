/** A home and a project for each registry test, and the registries found there. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach } from "node:test";
import { registryKinds } from "../proxy/registry-hosts.ts";
import { leftRemark } from "./left-remark.ts";
import { ownRegistries } from "./own-registries.ts";
import { ownRegistryHosts } from "./own-registry-hosts.ts";

type Env = Readonly<Record<string, string>>;

export interface RegistryBench {
  readonly home: string;
  /** The working folder. */
  cwd: string;
  put(path: string, text: string): void;
  hosts(env?: Env): readonly string[];
  files(env?: Env): Readonly<Record<string, string>>;
  remark(env?: Env): string | undefined;
}

/** *Contract:* call once per test file; each test begins with empty folders. */
export function openRegistryBench(): RegistryBench {
  let home = "";
  const place = (env: Env = {}) => ({ cwd: bench.cwd, env: { HOME: home, ...env } });
  const bench: RegistryBench = {
    cwd: "",
    get home() {
      return home;
    },
    put: (path, text) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    },
    hosts: (env) => ownRegistryHosts(registryKinds, place(env)),
    files: (env) => ownRegistries(place(env)).files,
    remark: (env) => leftRemark(ownRegistries(place(env)).left),
  };
  beforeEach(() => {
    const root = mkdtempSync(join(tmpdir(), "own-registries-"));
    home = join(root, "home");
    bench.cwd = join(root, "project");
    for (const path of [home, bench.cwd]) mkdirSync(path);
  });
  afterEach(() => rmSync(dirname(home), { recursive: true, force: true }));
  return bench;
}
