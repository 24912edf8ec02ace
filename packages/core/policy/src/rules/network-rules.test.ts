import assert from "node:assert/strict";
import { it } from "node:test";
import type { Mode, Rule } from "@lathe/protocol";
import { networkRules } from "./network-rules.ts";

const rules: readonly Rule[] = [
  { name: "a", verdict: "allow", kinds: ["network"], target: "*.example.com" },
  { name: "b", verdict: "allow", kinds: ["network", "vcs"], target: "example.org:8080" },
  { name: "c", verdict: "deny", kinds: ["network"], target: "bad.*" },
  { name: "d", verdict: "ask", target: "rare.example.com" },
  { name: "e", verdict: "allow", kinds: ["execute"], target: "curl *" },
  { name: "f", verdict: "allow", kinds: ["network"] },
];

it("lists the hosts that rules allow by name, and applies the rules against them", () => {
  const { hosts, bars } = networkRules(rules, () => "auto");
  assert.deepEqual(hosts, ["*.example.com", "example.org:8080"]);
  const names = ["bad.example.com", "rare.example.com", "good.example.com"];
  const barred = (isGranted: boolean): readonly boolean[] => names.map((name) => bars(name, isGranted));
  assert.deepEqual(barred(false), [true, true, false]);
  assert.deepEqual(barred(true), [true, false, false]);
  const none = networkRules([{ name: "no", verdict: "deny", kinds: ["network"] }], () => "auto");
  assert.equal(none.bars("a.b", true), true);
});

it("allows nothing in a read-only mode, as soon as the mode changes", () => {
  let mode: Mode = "auto";
  const { bars } = networkRules(rules, () => mode);
  assert.equal(bars("good.example.com", false), false);
  for (mode of ["plan", "read-only"] satisfies readonly Mode[])
    assert.equal(bars("good.example.com", false), true);
  mode = "ask";
  assert.equal(bars("good.example.com", false), false);
});
