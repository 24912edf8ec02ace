import assert from "node:assert/strict";
import { it } from "node:test";
import type { Effect, Mode } from "@lathe/protocol";
import { blockedText } from "./blocked-call.ts";

function textOf(rule: string, effects: readonly Effect[], mode: Mode = "auto"): string {
  const input = JSON.stringify({ command: "the command" });
  const call = { type: "tool-call", id: "c", tool: "shell", input } as const;
  const decision = { verdict: "ask", rule, why: "because" } as const;
  return blockedText({ call, effects, decision }, { cwd: "/w", mode, lathe: "lathe" });
}

const cases: readonly (readonly [string, Effect, string])[] = [
  [
    "uncontained",
    { kind: "execute", target: "ls *.js" },
    String.raw`Install bubblewrap, or go on with: lathe run --continue --allow 'ls \*.js', or lathe run --continue --no-sandbox`,
  ],
  [
    "uncontained",
    { kind: "execute", target: "x".repeat(500) },
    "Install bubblewrap, or go on with: lathe run --continue --no-sandbox",
  ],
  [
    "network",
    { kind: "network", target: "example.com" },
    "Go on with: lathe run --continue --allow 'network:example.com'",
  ],
  ["sandbox", { kind: "write", target: "/data" }, "Go on with: lathe run --continue --allow 'write:/data'"],
  ["write-outside", { kind: "write", target: "../x" }, "Go on with: lathe run --continue --allow 'write:/x'"],
  [
    "secret-files",
    { kind: "read", target: ".env" },
    "Go on at a terminal, where you are asked: lathe run --continue",
  ],
];
for (const [rule, effect, remedy] of cases) {
  it(`says what helps against ${rule} of ${effect.target.slice(0, 20)}`, () => {
    assert.equal(textOf(rule, [effect]), `shell the command: because. ${remedy}`);
  });
}

it("allows all that would ask where every change does", () => {
  const effects: readonly Effect[] = [
    { kind: "execute", target: "echo it's" },
    { kind: "write", target: "a" },
  ];
  assert.match(textOf("uncontained", effects, "ask"), /--allow 'echo it'\\''s' --allow 'write:a'/);
});
