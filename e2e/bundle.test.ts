/** Tests that the bundle runs only while no source has changed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../apps/cli/bin/lathe.mjs", import.meta.url));
const saying = (what: string) => `export async function main() { console.log("${what}"); return 0; }\n`;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lathe-bundle-"));
  put("apps/cli/bin/lathe.mjs", readFileSync(script, "utf8"));
  put("apps/cli/src/main.ts", saying("source"));
  put("apps/cli/src/other.ts", "export {};\n");
  put("node_modules/.cache/lathe/bundle/main.mjs", saying("bundle"));
  note(["apps/cli/src/main.ts", "apps/cli/src/other.ts"]);
});
afterEach(() => rmSync(root, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function note(paths: readonly string[]): void {
  const inputs = paths.map((path) => {
    const { mtimeMs, size } = statSync(join(root, path));
    return [join(root, path), mtimeMs, size];
  });
  put("node_modules/.cache/lathe/bundle/inputs.json", JSON.stringify(inputs));
}

function said(env: Readonly<Record<string, string>> = {}, from = root): string {
  const run = spawnSync(process.execPath, [join(from, "apps/cli/bin/lathe.mjs"), "list"], {
    env: { PATH: process.env.PATH, ...env },
    encoding: "utf8",
  });
  assert.equal(run.status, 0, run.stderr);
  return run.stdout.trim();
}

it("runs the bundle while every source is unchanged", () => {
  assert.equal(said(), "bundle");
  assert.equal(said({ LATHE_BUNDLE: "off" }), "source");
});

it("runs the sources once one of them differs in time or size, or is gone", () => {
  const other = join(root, "apps/cli/src/other.ts");
  const { atimeMs, mtimeMs } = statSync(other);
  utimesSync(other, atimeMs / 1000, mtimeMs / 1000 + 5);
  assert.equal(said(), "source");
  writeFileSync(other, "export {}; // longer\n");
  utimesSync(other, atimeMs / 1000, mtimeMs / 1000);
  assert.equal(said(), "source");
  rmSync(other);
  assert.equal(said(), "source");
});

it("runs the sources if the note is broken, missing, empty, or from another folder", () => {
  const file = "node_modules/.cache/lathe/bundle/inputs.json";
  const copy = `${root}-copy`;
  cpSync(root, copy, { recursive: true, preserveTimestamps: true });
  try {
    assert.equal(said({}, copy), "source");
  } finally {
    rmSync(copy, { recursive: true });
  }
  put(file, "[");
  assert.equal(said(), "source");
  put(file, "[]");
  assert.equal(said(), "source");
  rmSync(join(root, file));
  assert.equal(said(), "source");
});

it("requests Node's own modules for named imports, and leaves everything else unchanged", async () => {
  const { askForBuiltins } = await import(String(new URL("../scripts/bundle.mjs", import.meta.url)));
  const imported = 'import { readFileSync as read, rmSync } from "node:fs";\n';
  const other = 'import { z } from "zod";\nimport process$1 from "node:process";\n';
  const body = `const script = \`\n${imported}\`;\n${imported}`;
  assert.equal(
    askForBuiltins(`${other}${imported}${body}`),
    `${other}const { readFileSync: read, rmSync } = process.getBuiltinModule("node:fs");\n${body}`,
  );
  assert.equal(askForBuiltins(body), body);
});
