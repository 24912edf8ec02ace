/** `lathe demo` with the embedded model: no key, no network. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { startWireServer } from "@lathe/testkit";
import { assertDemoWorks } from "./demo-run.ts";
import { makePlace, wireEnv } from "./lathe.ts";

it("fixes its first bug", async () => {
  await assertDemoWorks(1);
});

it("lets no other model run commands without a sandbox", async (context) => {
  const place = makePlace();
  const server = await startWireServer([]);
  try {
    const sandbox = JSON.parse((await place.run(["doctor", "--json"])).out).find(isSandbox);
    if (sandbox.state === "good") return context.skip("there is a sandbox");
    const { code, err } = await place.run(["demo"], { env: wireEnv(server.url) });
    assert.equal(code, 1);
    assert.match(
      err,
      /^lathe: there is no sandbox here.*install bubblewrap, or take --model builtin\/repair, or --no-sandbox.*\n$/,
    );
    assert.deepEqual([server.records.length, readdirSync(join(place.home, "..", "tmp"))], [0, []]);
  } finally {
    await server.close();
    place.remove();
  }
});

function isSandbox({ name }: { readonly name: string }): boolean {
  return name === "sandbox";
}
