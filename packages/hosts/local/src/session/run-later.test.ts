/** Checkpoints show which changed files run later, whichever process changed them. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import type { LazyCheckpoints } from "@lathe/sessions";
import { createRunLater } from "@lathe/sessions/run-later";
import { createLazyCheckpoints } from "./lazy-checkpoints.ts";

describe("changed files that run later", () => {
  let folder: string;
  let checkpoints: LazyCheckpoints;
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, "w", name)), { recursive: true });
      writeFileSync(join(folder, "w", name), text);
    }
  };
  const take = async (): Promise<string> => {
    const taken = await checkpoints.take("s", new AbortController().signal);
    assert.ok(!isFailure(taken), isFailure(taken) ? taken.text : "");
    return taken.ref;
  };
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-run-later-")));
    mkdirSync(join(folder, "w"));
    const env = { ...process.env, HOME: join(folder, "home"), XDG_STATE_HOME: join(folder, "state") };
    checkpoints = createLazyCheckpoints({ root: join(folder, "w"), env });
  });
  afterEach(async () => {
    await checkpoints.close();
    rmSync(folder, { recursive: true });
  });

  it("are listed with the reason; a new hidden folder counts as one", async () => {
    write({
      "package.json": '{"name":"a","scripts":{"test":"t"}}',
      "other/package.json": '{"scripts":{"test":"t"}}',
      ".old/a": "",
      "run.sh": "",
      Makefile: "all:\n",
    });
    const from = await take();
    write({
      "package.json": '{"name":"b","scripts":{"test":"node -e 0"}}',
      "other/package.json": '{"name":"c","scripts":{"test":"t"}}',
      "AGENTS.md": "do",
      ".new/a": "",
      ".new/b/c": "",
      ".old/b": "",
      ".rc": "",
      "src/a.ts": "",
    });
    chmodSync(join(folder, "w/run.sh"), 0o755);
    rmSync(join(folder, "w/Makefile"));
    const found = await createRunLater(checkpoints)(from, await take());
    assert.deepEqual(Object.fromEntries(found.files.map(({ path, why }) => [path, why])), {
      "AGENTS.md": "later agent sessions follow it",
      ".new/": "new hidden folder",
      ".rc": "new hidden file",
      "package.json": "scripts: test",
      "run.sh": "new executable",
    });
    assert.deepEqual(found.gone, ["Makefile"]);
  });

  it("are none if the checkpoints are gone", async () => {
    assert.deepEqual(await createRunLater(checkpoints)("0".repeat(40), await take()), {
      files: [],
      gone: [],
    });
  });
});
