/** The circuits of models as this user reaches them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { type Event, emptySession, failure } from "@lathe/protocol";
import { openCircuitFiles, openGateway } from "./model-gateway.ts";

const at = 1_000_000;
const until = at + 20_000;

it("identify a model however its ID is written", (test) => {
  const root = mkdtempSync(join(tmpdir(), "lathe-circuits-"));
  test.after(() => rmSync(root, { recursive: true }));
  const options = { env: { XDG_STATE_HOME: root }, version: "test", providers: {}, catalogue: {} };
  const gateway = openGateway(options);
  const files = openCircuitFiles(options, gateway);
  const id = "anthropic/claude-sonnet-5.5";
  const circuit = { until, since: at, code: "overloaded", why: "busy", opens: 1 } as const;
  const data = { attempt: "1", model: id, failure: failure("overloaded", "busy"), rest: { until }, ms: 1 };
  const failed: Event = { v: 1, session: "s", seq: 1, parent: 0, at, type: "step.failed", data };
  files.onEvent(failed, { ...emptySession, model: id, circuits: { [id]: circuit } });
  assert.equal(files.known("anthropic/claude-sonnet-5-5", at)?.state, "open");
  gateway.close();
});
