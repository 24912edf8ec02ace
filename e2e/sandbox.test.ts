/** `lathe sandbox`: one command with its streams and its exit code, and every promise tried. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { makeOutsideFolder } from "@lathe/testkit";
import { makePlace, type Place } from "./lathe.ts";

/** Why it cannot be tried here; undefined where a command runs. */
async function noSandbox(): Promise<string | undefined> {
  const place = makePlace();
  const { code, err } = await place.run(["sandbox", "exec", "--", "true"]);
  place.remove();
  return code === 0 ? undefined : err;
}

const skip = await noSandbox();

describe("lathe sandbox", { ...(skip !== undefined && { skip }) }, () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place.remove());
  const exec = (args: readonly string[], input = ""): ReturnType<Place["run"]> =>
    place.run(["sandbox", "exec", ...args], { input });

  it("passes input, output, errors and the exit code through", async () => {
    const { code, out, err } = await exec(["--", "cat; echo wrong >&2; exit 7"], "in\n");
    assert.deepEqual([code, out, err], [7, "in\n", "wrong\n"]);
  });

  it("takes several words as a program and its arguments, whatever is in them", async () => {
    const { out } = await exec(["--", "printf", "%s|", "a b", "it's", "$HOME", ""]);
    assert.equal(out, "a b|it's|$HOME||");
  });

  it("loses no byte of long output", async () => {
    const { out } = await exec(["--", "head -c 3000000 /dev/zero | tr '\\0' x"]);
    assert.equal(out.length, 3_000_000);
  });

  it("tells the signal that ended a command as a shell does", async () => {
    assert.equal((await exec(["--", "kill -9 $$"])).code, 137);
  });

  it("writes the workspace, and elsewhere only what it is told it may", async () => {
    // Commands have a /tmp of their own, where nothing is ever granted.
    const data = makeOutsideFolder();
    try {
      const script = `echo x > here && echo x > ${data}/there`;
      const kept = await exec(["--", script]);
      assert.deepEqual([kept.code, readdirSync(data)], [1, []]);
      assert.match(
        kept.err,
        new RegExp(`keeps the command from: write ${data}; --writable ${data} allows it`),
      );
      assert.equal((await exec(["--writable", data, "--", script])).code, 0);
      assert.ok(existsSync(join(data, "there")) && existsSync(join(place.workspace, "here")));
    } finally {
      rmSync(data, { recursive: true });
    }
  });

  it("refuses to open what no command is ever given, and runs nothing", async () => {
    const { code, out, err } = await exec(["--writable", "/etc", "--", "echo ran"]);
    assert.deepEqual([code, out], [2, ""]);
    assert.match(err, /\/etc cannot be made writable/);
  });

  it("ends with 130 on an interrupt, with nothing left running", async () => {
    const running = place.start(["sandbox", "exec", "--", "echo begun; sleep 1000"]);
    await running.said("begun");
    running.child.kill("SIGINT");
    assert.equal((await running.ended).code, 130);
    assert.deepEqual(place.leftovers(), []);
  });

  it("takes a wrong line for usage", async () => {
    for (const args of [
      ["sandbox"],
      ["sandbox", "exec"],
      ["sandbox", "exec", "--writable", "/none", "--", "true"],
    ]) {
      const { code, err } = await place.run(args);
      assert.equal(code, 2, err);
      assert.equal(err.trim().split("\n").length, 1);
    }
  });

  it("tries its promises, and all hold", async () => {
    const { code, out } = await place.run(["sandbox", "verify", "--json"]);
    const { promises } = JSON.parse(out) as { promises: readonly { readonly state: string }[] };
    assert.deepEqual([code, promises.filter(({ state }) => state === "broken")], [0, []]);
    assert.ok(promises.length > 15);
  });
});
