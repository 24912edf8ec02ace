/** One session over several turns in one process. */
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { noRouterOptions } from "@lathe/orchestrator/router";
import { isFailure } from "@lathe/protocol";
import { startWireServer } from "@lathe/testkit";
import { openState } from "../history/state.ts";
import type { LocalOptions } from "../local-options.ts";
import { startSession } from "../local-sessions.ts";

it("a model that a person chose between two turns stays for the following turns", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-turns-")));
  const server = await startWireServer(() => ({ parts: [{ type: "text", text: "ok" }] }));
  const env = { HOME: root, XDG_STATE_HOME: join(root, "state"), PATH: process.env.PATH };
  const options: LocalOptions = {
    cwd: root,
    env,
    version: "test",
    models: ["acme/one"],
    router: noRouterOptions,
    catalogue: {},
    providers: { acme: { baseUrl: `${server.url}/v1`, apiKey: "k", wire: "chat" } },
    mode: "auto",
    attended: false,
    limits: {},
    rules: [],
    checkpoints: false,
    sandbox: "off",
    sandboxLimits: { wanted: {}, most: {} },
    onEvent: () => undefined,
    onDelta: () => undefined,
  };
  const session = await startSession(options, { text: "go" });
  try {
    assert.ok(!isFailure(session));
    await session.run();
    await openState(env).inbox.offer(session.id, { type: "model", model: "acme/two" });
    for (const text of ["go on", "go on"]) await session.run({ text });
    const asked = server.records.map(({ body }) => body.model);
    assert.deepEqual(asked, ["one", "two", "two"]);
  } finally {
    if (!isFailure(session)) await session.close();
    await server.close();
    rmSync(root, { recursive: true });
  }
});
