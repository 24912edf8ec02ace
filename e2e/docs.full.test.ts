/** Tests the pages of docs/: runs every command of a block marked `sh run` as it is. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { startWireServer, type WireServer } from "@lathe/testkit";
import { makePlace, type Place, wireEnv } from "./lathe.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const pages = globSync("docs/*.md", { cwd: root }).map((path) => `${root}${path}`);

function blocks(text: string): readonly string[] {
  return [...text.matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
}

describe("the pages of docs/", () => {
  let server: WireServer;
  before(async () => {
    server = await startWireServer(() => ({ parts: [{ type: "text", text: "Hello." }] }));
  });
  after(() => server.close());

  const withCommands = pages.filter((page) => blocks(readFileSync(page, "utf8")).length > 0);
  assert.ok(withCommands.length >= 7);

  for (const page of withCommands) {
    it(`describe working commands: ${basename(page)}`, async () => {
      const place: Place = makePlace();
      try {
        execFileSync("git", ["init", "-q"], { cwd: place.workspace });
        place.put("a.txt", "a\n");
        const script = `set -eu\n${blocks(readFileSync(page, "utf8")).join("\n")}`;
        // The words after the script are the command, which the script does not check.
        const { code, err } = await place.run([], {
          before: ["bash", "-c", script],
          env: wireEnv(server.url),
        });
        assert.equal(code, 0, err);
      } finally {
        place.remove();
      }
    });
  }

  it("link to existing files", () => {
    for (const page of [...pages, `${root}README.md`]) {
      for (const [, target = ""] of readFileSync(page, "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)\)/g))
        assert.equal(
          spawnSync("test", ["-e", target], { cwd: dirname(page) }).status,
          0,
          `${page}: ${target}`,
        );
    }
  });
});
