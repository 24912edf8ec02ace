import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { askedGlobs } from "./asked-globs.ts";

const root = mkdtempSync(join(tmpdir(), "lathe-globs-"));
mkdirSync(join(root, "app/src"), { recursive: true });
after(() => rmSync(root, { recursive: true }));

const asked = (glob: string, path = "") => askedGlobs({ root, path }, glob);

it("splits lists of globs", () => {
  assert.deepEqual(asked("*.ts, *.tsx"), ["*.ts, *.tsx", "*.ts", "*.tsx"]);
  assert.deepEqual(asked("*.ts *.js"), ["*.ts *.js", "*.ts", "*.js"]);
  assert.deepEqual(asked("*.ts,!*.test.ts"), ["*.ts,!*.test.ts", "*.ts", "!*.test.ts"]);
  for (const glob of ["*.{ts,tsx}", "{a,{b,c}}", "[,].ts", "a\\,b", "a b/*.ts", "*.ts,"]) {
    assert.deepEqual(asked(glob), [glob]);
  }
});

it("recognizes the root, and folders by their names", () => {
  assert.deepEqual(asked(`${root}/app/*.ts`), ["/app/*.ts"]);
  assert.deepEqual(asked(`!${root}/a.ts`), ["!/a.ts"]);
  assert.deepEqual(asked(root), ["**"]);
  assert.deepEqual(asked(`${root}x/*.ts`), [`${root}x/*.ts`]);
  assert.deepEqual(asked("app"), ["app", "app/**"]);
  assert.deepEqual(asked("src"), ["src"]);
  assert.deepEqual(asked("src", "app"), ["src", "src/**"]);
  assert.deepEqual(asked(`${root}/app/src`), ["/app/src", "/app/src/**"]);
});
