import assert from "node:assert/strict";
import { it } from "node:test";
import type { Rule } from "@lathe/protocol";
import { sessionRules } from "./session-rules.ts";

const deny = (target: string, kind: "read" | "execute"): Rule => ({
  name: "mine",
  verdict: "deny",
  kinds: [kind],
  target,
});

it("makes absolute targets in the workspace relative, as policy sees them, and changes nothing else", () => {
  const rules = [
    deny("/work/app/secret/**", "read"),
    deny("/work/application/**", "read"),
    deny("/etc/**", "read"),
    deny("/work/app/run.sh", "execute"),
  ];
  assert.deepEqual(
    sessionRules(rules, { cwd: "/work/app", env: { HOME: "/home/me" } })
      .slice(0, 4)
      .map(({ target }) => target),
    ["secret/**", "/work/application/**", "/etc/**", "/work/app/run.sh"],
  );
});
