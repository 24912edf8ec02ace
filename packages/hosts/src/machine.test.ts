import assert from "node:assert/strict";
import { it } from "node:test";
import { examineMachine } from "./machine.ts";

it("finds keys by name, never by value, and says what to mend", async () => {
  const findings = await examineMachine({ OPENAI_API_KEY: "hush", XDG_STATE_HOME: "/dev/null" });
  const byName = new Map(findings.map((finding) => [finding.name, finding]));
  assert.match(byName.get("models")?.text ?? "", /OPENAI_API_KEY set/);
  assert.doesNotMatch(JSON.stringify(findings), /hush/);
  assert.equal(byName.get("state")?.state, "bad");
  for (const { state, mend } of findings)
    assert.ok(state === "good" || mend !== undefined || state === "weak");
});
