/** The part of the sandbox suite about a workspace that was just made for its commands: all they write stays. */
import assert from "node:assert/strict";
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import type { Bench } from "./sandbox-bench.ts";

export function unguardedCases(open: () => Promise<Bench>): void {
  it("in a folder that was just made nothing is sealed or taken back", { timeout: 20_000 }, async () => {
    const bench = await open();
    try {
      const files = [".vscode/tasks.json", ".git/hooks/post-checkout", ".envrc", "package.json"];
      const script = `mkdir -p .vscode .git/hooks; for f in ${files.join(" ")}; do echo x > $f; done; ln -s /etc/passwd out`;
      const ended = await bench.exec(script);
      const again = await bench.exec("echo y >> .git/hooks/post-checkout; rm .envrc");
      const { takenBack, removedLinks } = ended;
      assert.deepEqual(
        { code: ended.code, again: again.code, takenBack, removedLinks },
        { code: 0, again: 0, takenBack: undefined, removedLinks: undefined },
      );
      const left = files.filter((file) => existsSync(join(bench.workspace, file)));
      assert.deepEqual(
        left,
        files.filter((file) => file !== ".envrc"),
      );
      assert.ok(lstatSync(join(bench.workspace, "out")).isSymbolicLink());
    } finally {
      await bench.sandbox.close();
    }
  });
}
