/** A second opinion may only settle calls that no rule matches and that a full sandbox confines. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Effect, Facts, Rule } from "@lathe/protocol";
import { defaultRules } from "./default-rules.ts";
import { isLeftOpen } from "./is-left-open.ts";

const facts: Facts = { mode: "auto", containment: "full", uncontainedAllowed: false, paths: {} };
const host: Effect = { kind: "network", target: "example.com", traits: ["named"] };
const opaque: Effect = { kind: "execute", target: "eval $x", expansion: "unknown" };

it("includes unknown effects, and hosts that a command names", () => {
  assert.ok(isLeftOpen([opaque], facts, defaultRules));
  assert.ok(isLeftOpen([host, { kind: "execute", target: "curl" }], facts, defaultRules));
  assert.ok(!isLeftOpen([{ kind: "execute", target: "ls" }], facts, defaultRules), "nothing is asked");
});

it("excludes everything that any rule asks about or denies, whatever its name", () => {
  for (const verdict of ["ask", "deny"] as const) {
    const rule: Rule = { name: "network", verdict, kinds: ["network"], target: "*.com" };
    assert.ok(!isLeftOpen([host], facts, [rule, ...defaultRules]), verdict);
  }
  const secret: Effect = { kind: "read", target: ".env" };
  const paths = { ".env": { real: ".env", inside: true } };
  assert.ok(!isLeftOpen([opaque, secret], { ...facts, paths }, defaultRules));
});

it("excludes everything that is always asked about", () => {
  for (const trait of [
    "irreversible",
    "shared",
    "history",
    "discards",
    "destroys",
    "secrets",
    "privilege",
  ] as const)
    assert.ok(!isLeftOpen([{ ...opaque, traits: [trait] }], facts, defaultRules), trait);
  assert.ok(!isLeftOpen([opaque, { kind: "vcs", target: "git push" }], facts, defaultRules));
  assert.ok(!isLeftOpen([{ kind: "delete", target: "$x", expansion: "unknown" }], facts, defaultRules));
});

it("excludes everything outside a full sandbox, in another mode, or after a refusal", () => {
  const refusals = [{ kind: "delete", target: "a" }] as const;
  for (const more of [
    { containment: "none" },
    { containment: "reduced" },
    { mode: "ask" },
    { mode: "plan" },
    { refusals },
  ] as const)
    assert.ok(!isLeftOpen([opaque], { ...facts, ...more }, defaultRules), JSON.stringify(more));
});
