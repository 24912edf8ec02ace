/** Circuits in files: sessions share their findings, for the same address only. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type Event, emptySession, failure, type Session } from "@lathe/protocol";
import { type CircuitFiles, createCircuitFiles } from "./circuit-files.ts";

const at = 1_000_000;
const until = at + 20_000;
const session: Session = {
  ...emptySession,
  model: "a/x",
  circuits: { "a/x": { until, since: at, code: "overloaded", why: "busy", opens: 2 } },
};
const envelope = { v: 1, session: "s", seq: 1, parent: 0 };
const failed: Event = {
  ...envelope,
  at,
  type: "step.failed",
  data: { attempt: "1", model: "a/x", failure: failure("overloaded", "busy"), rest: { until }, ms: 1 },
};
const looks: Event = {
  ...envelope,
  at: until,
  type: "model.switched",
  data: { from: "b/y", to: "a/x", why: "", because: "recovery" },
};
const completed: Event = {
  ...envelope,
  at,
  type: "step.completed",
  data: { attempt: "1", model: "a/x", reason: "stop", parts: [], firstMs: 1, ms: 1 },
};

describe("circuit files", () => {
  let root: string;
  let one: CircuitFiles;
  const filesAt = (address: string) => createCircuitFiles(join(root, "circuits"), (id) => id + address);
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "lathe-circuits-"));
    one = filesAt("https://one");
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it("share one session's finding, and its end, with other sessions", () => {
    one.onEvent(failed, session);
    const other = filesAt("https://one");
    assert.deepEqual(other.news("a/x"), { until, code: "overloaded", why: "busy", opens: 2 });
    assert.equal(other.known("a/x", at)?.state, "open");
    assert.equal(other.known("a/x", until)?.state, "half-open");
    assert.equal(other.news("b/y"), undefined);
    assert.equal(filesAt("https://two").news("a/x"), undefined, "elsewhere it may be well");
    other.onEvent(completed, session);
    assert.equal(one.news("a/x"), undefined);
  });

  it("keep other sessions away while one probes the model", () => {
    one.onEvent(looks, session);
    assert.equal(one.news("a/x")?.until, until + 60_000);
    assert.equal(one.known("a/x", until + 1)?.state, "half-open");
  });

  it("do not share conversation-specific faults, or findings from others", () => {
    const bound = { since: at, code: "overloaded", why: "long", opens: 1 } as const;
    one.onEvent(failed, { ...session, circuits: { "a/x": { ...bound, code: "context-overflow" } } });
    one.onEvent(failed, { ...session, circuits: { "a/x": { ...bound, until, code: "unauthorized" } } });
    one.onEvent(failed, { ...session, circuits: { "a/x": { ...bound, until, heard: true } } });
    assert.equal(one.news("a/x"), undefined);
  });

  it("ignore entries that this version could not write to a log", () => {
    one.onEvent(failed, session);
    const folder = join(root, "circuits");
    const [name = ""] = readdirSync(folder);
    const kept = JSON.parse(readFileSync(join(folder, name), "utf8"));
    for (const odd of [{ code: "melted" }, { why: 1 }, { opens: undefined }]) {
      writeFileSync(join(folder, name), JSON.stringify({ ...kept, ...odd }));
      assert.equal(one.news("a/x"), undefined, JSON.stringify(odd));
    }
  });

  it("are removed once they are old, torn ones too", () => {
    one.onEvent(failed, session);
    const torn = join(root, "circuits", "0.json.1");
    writeFileSync(torn, "{to");
    utimesSync(torn, 1, 1);
    const now = Date.now();
    one.onEvent(
      { ...failed, at: now },
      {
        ...session,
        circuits: { "a/x": { until: now + 1, since: now, code: "overloaded", why: "busy", opens: 3 } },
      },
    );
    assert.equal(readdirSync(join(root, "circuits")).length, 1);
  });

  it("tolerate files that cannot be read or written", () => {
    one.onEvent(failed, session);
    const folder = join(root, "circuits");
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "{torn");
    assert.equal(one.news("a/x"), undefined);
    one.onEvent(failed, session);
    assert.equal(one.news("a/x")?.opens, 2);
    const nowhere = createCircuitFiles("/dev/null/circuits", (id) => id);
    nowhere.onEvent(failed, session);
    nowhere.close("a/x");
    assert.equal(nowhere.news("a/x"), undefined);
  });
});
