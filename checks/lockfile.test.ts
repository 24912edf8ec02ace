/** Checks that package-lock.json has what `npm ci` needs on every platform: npm drops packages silently. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

interface Locked {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Lockfile = Readonly<Record<string, Locked>>;

const registry = "https://registry.npmjs.org/";

function problems(packages: Lockfile): readonly string[] {
  const paths = Object.keys(packages);
  return Object.entries(packages).flatMap(([path, locked]) => {
    const wanted = Object.keys({ ...locked.dependencies, ...locked.optionalDependencies });
    const missing = wanted.filter((name) => !paths.some((other) => other.endsWith(`node_modules/${name}`)));
    const found = missing.map((name) => `missing: ${name}, wanted by ${path}`);
    if (!path.includes("node_modules/") || locked.link) return found;
    if (!locked.resolved?.startsWith(registry)) found.push(`resolved: ${path} is not from ${registry}`);
    if (locked.integrity === undefined) found.push(`integrity: ${path} has none`);
    return found;
  });
}

test("locks every required package with its integrity, from the public registry", () => {
  const { packages } = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"));
  assert.deepEqual(problems(packages), []);
});

test("detects a dropped platform package, a foreign registry and a missing hash", () => {
  const packages: Lockfile = {
    "": { dependencies: { a: "1.0.0" } },
    "node_modules/a": {
      resolved: "https://example.com/a.tgz",
      optionalDependencies: { "a-linux-x64": "1.0.0" },
    },
    "node_modules/@lathe/tools": { link: true, resolved: "packages/sessions/tools" },
  };
  assert.deepEqual(
    problems(packages).map((text) => text.split(":")[0]),
    ["missing", "resolved", "integrity"],
  );
});
