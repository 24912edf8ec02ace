/** Tests the output of `lathe policy check` for people and for programs. */
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { makePlace } from "./in-process.ts";
import type { Place } from "./lathe.ts";

describe("lathe policy check", () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place.remove());

  interface Explained {
    readonly verdict: string;
    readonly rule: string;
    readonly sandbox: string;
    readonly parts: readonly {
      readonly command: string;
      readonly verdict: string;
      readonly classes: readonly string[];
    }[];
    readonly proposed: readonly { readonly target: string }[];
  }

  async function explained(script: string, ...args: readonly string[]): Promise<Explained> {
    const { code, out, err } = await place.run([
      "policy",
      "check",
      script,
      "--json",
      "--sandbox",
      "full",
      ...args,
    ]);
    assert.equal(code, 0, err);
    return JSON.parse(out) as Explained;
  }

  it("explains each part, and runs nothing", async () => {
    const found = await explained("touch ran && npm test; git push origin main");
    assert.deepEqual([found.verdict, found.rule, found.sandbox], ["ask", "irreversible", "full"]);
    assert.deepEqual(
      found.parts.map(({ command, verdict }) => [command, verdict]),
      [
        ["touch ran", "allow"],
        ["npm test", "allow"],
        ["git push origin main", "ask"],
      ],
    );
    assert.ok(found.parts[2]?.classes.includes("vcs-shared"));
    assert.ok(found.parts[2]?.classes.includes("irreversible"));
    assert.ok(!existsSync(join(place.workspace, "ran")));
  });

  it("proposes the rules for exactly this command, and they work", async () => {
    const [rule] = (await explained("git push origin main")).proposed;
    const allow = (text: string): readonly string[] => ["--allow", text];
    assert.equal((await explained("git push origin main", ...allow(`vcs:${rule?.target}`))).verdict, "allow");
    assert.equal((await explained("git push origin main", ...allow("vcs:*"))).verdict, "ask");
    assert.deepEqual((await explained("cat .env")).proposed, []);
  });

  it("looks up scripts, files and aliases of the project", async () => {
    writeFileSync(
      join(place.workspace, "package.json"),
      JSON.stringify({ scripts: { release: "npm publish" } }),
    );
    writeFileSync(join(place.workspace, "Makefile"), "all: deploy\ndeploy:\n\tkubectl apply -f k8s\n");
    writeFileSync(join(place.workspace, "ship.sh"), "set -e\ngit push origin main\n");
    for (const script of ["npm run release", "make", "bash ship.sh", "./ship.sh", "source ship.sh"])
      assert.equal((await explained(script)).rule, "irreversible", script);
    assert.equal((await explained("npm test && make -n")).verdict, "allow");
  });

  it("prints terminal controls only as data", async () => {
    const script = "echo '\u001b]52;c;eA==\u0007\u001b[2J\u009b2J'; rm -rf '/\u001b[31ma\u200bb\u202e'";
    const { code, out } = await place.run(["policy", "check", script]);
    assert.equal(code, 0);
    assert.doesNotMatch(out.replaceAll("\n", ""), /[\p{Cc}\u200b\u202e]/u);
    const data = await place.run(["policy", "check", "--json", script]);
    assert.equal(JSON.parse(data.out).command, script);
  });

  it("prints a table for people, and reports an invalid line", async () => {
    const { code, out } = await place.run(["policy", "check", "ls && rm -rf ../x", "--sandbox", "full"]);
    assert.equal(code, 0);
    assert.match(out, /^ask {2}delete-outside: /);
    assert.match(out, /in auto mode, sandbox: full/);
    assert.match(out, /^allow {2}ls +/m);
    assert.match(out, /^ask {4}rm -rf \.\.\/x +/m);
    for (const args of [["policy"], ["policy", "check"], ["policy", "check", "ls", "--sandbox", "thick"]])
      assert.equal((await place.run(args)).code, 2);
  });
});
