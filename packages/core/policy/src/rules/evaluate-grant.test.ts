/** An effect that the sandbox blocked is granted only by a rule that names the place or the host. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Effect, EffectKind, Facts, Rule, Verdict } from "@lathe/protocol";
import { defaultRules } from "./default-rules.ts";
import { evaluateGrant } from "./evaluate-grant.ts";

const facts = (effect: Effect, more: Partial<Facts> = {}): Facts => ({
  mode: "auto",
  containment: "full",
  uncontainedAllowed: false,
  paths: { [effect.target]: { real: effect.target, inside: false } },
  ...more,
});

function rule(verdict: Verdict, text: string): Rule {
  const [kind, target] = text.split(/:(.*)/s);
  return { name: text, verdict, kinds: [kind as EffectKind], target: target ?? "" };
}

const rows: readonly (readonly [
  effect: string,
  rules: Readonly<Record<string, Verdict>>,
  verdict: Verdict,
])[] = [
  ["write /srv/data", {}, "ask"],
  ["write /srv/data", { "write:/srv/data": "allow" }, "allow"],
  ["write /srv/data/new", { "write:/srv/data/**": "allow" }, "allow"],
  ["read /srv/data/old", { "write:/srv/data/**": "allow" }, "allow"],
  ["write /srv/data", { "read:/srv/data/**": "allow" }, "ask"],
  ["write /root/.claude.json", { "write:*.json": "allow" }, "ask"],
  ["write /root/.config", { "write:**/.*": "allow" }, "ask"],
  ["write /root/other/dist", { "write:**/dist/**": "allow" }, "ask"],
  ["write /srv/data", { "write:**": "allow" }, "ask"],
  ["network evil.com", { "network:*.com": "allow" }, "ask"],
  ["network evil.com", { "network:*e*": "allow" }, "ask"],
  ["network evil.com:22", { "network:*:22": "allow" }, "ask"],
  ["network api.example.com", { "network:*.example.com": "allow" }, "allow"],
  ["network example.com", { "network:example.com": "allow" }, "allow"],
  ["read /srv/stuff", { "read:/srv/stuff": "allow", "read:/srv/stuff/secret/**": "deny" }, "deny"],
  ["write /srv/stuff", { "write:/srv/stuff": "allow", "read:/srv/stuff/**": "deny" }, "deny"],
  ["read /root/.ssh/id_rsa", {}, "ask"],
];

for (const [words, rules, verdict] of rows) {
  it(`${verdict}s ${words} with ${JSON.stringify(rules)}`, () => {
    const [kind, target] = words.split(" ") as [EffectKind, string];
    const effect = { kind, target };
    const own = Object.entries(rules).map(([text, said]) => rule(said, text));
    assert.equal(evaluateGrant([effect], facts(effect), [...own, ...defaultRules]).verdict, verdict);
  });
}

it("is denied if the mode limits commands to the sandbox, or a person refused it", () => {
  const effect: Effect = { kind: "write", target: "/srv/data" };
  const rules = [rule("allow", "write:/srv/data")];
  const read: Effect = { kind: "read", target: "/srv/data" };
  for (const mode of ["plan", "read-only"] as const) {
    assert.equal(evaluateGrant([effect], facts(effect, { mode }), rules).verdict, "deny");
    assert.equal(evaluateGrant([read], facts(read, { mode }), rules).verdict, "allow");
    assert.equal(evaluateGrant([read], facts(read, { mode }), []).verdict, "ask");
  }
  assert.equal(evaluateGrant([effect], facts(effect, { refusals: [effect] }), rules).verdict, "deny");
});
