/** Grants of hosts: only a rule that names one allows it, and what is said against a host holds for its ports. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Facts, Rule } from "@lathe/protocol";
import { evaluateGrant } from "./evaluate-grant.ts";

const facts: Facts = { mode: "auto", containment: "full", uncontainedAllowed: false, paths: {} };
const rule = (verdict: Rule["verdict"], target?: string): Rule => ({
  name: "r",
  verdict,
  kinds: ["network"],
  ...(target !== undefined && { target }),
});

it("judges hosts", () => {
  const judged = (target: string, ...rules: readonly Rule[]): string =>
    evaluateGrant([{ kind: "network", target }], facts, rules).verdict;
  assert.equal(judged("a.example"), "ask");
  assert.equal(judged("a.example", rule("allow")), "ask");
  assert.equal(judged("a.example", rule("allow", "*")), "ask");
  assert.equal(judged("a.example", rule("allow", "a.example")), "allow");
  assert.equal(judged("a.example:8080", rule("allow", "a.example")), "ask");
  assert.equal(judged("a.example:8080", rule("allow", "a.example:8080"), rule("deny", "a.example")), "deny");
  assert.equal(judged("a.example", rule("deny")), "deny");
});
