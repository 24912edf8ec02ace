/** Compares the files that a script's words may read with rules. */
import assert from "node:assert/strict";
import { posix } from "node:path";
import { describe, it } from "node:test";
import type { Facts, PathFact, Rule } from "@lathe/protocol";
import { commandEffects } from "../bench.test.ts";
import { defaultRules } from "./default-rules.ts";
import { evaluate } from "./evaluate.ts";
import { factsNeeded } from "./facts-needed.ts";

const secret: Rule = { name: "mine", verdict: "deny", kinds: ["read"], target: "secret/**" };

function verdictOf(script: string, rules: readonly Rule[], links: Readonly<Record<string, string>> = {}) {
  const effects = commandEffects(script);
  const paths: Record<string, PathFact> = {};
  for (const path of factsNeeded(effects).paths) {
    const real = links[path] ?? posix.normalize(path);
    paths[path] = { real, inside: !real.startsWith("..") };
  }
  const facts: Facts = { mode: "auto", containment: "full", uncontainedAllowed: false, paths, uncovered: [] };
  return evaluate({ effects }, facts, rules).verdict;
}

describe("a rule that denies reading", () => {
  const denied = [
    "cat secret/a.txt",
    "cat ./src/../secret/a.txt",
    "cat 'secret'/a.txt",
    "head -1 <secret/a.txt",
    "cd secret && cat a.txt",
    "cd s*t && cat a.txt",
    "(cd src; cat ../secret/a.txt)",
    "bash -c 'cat secret/a.txt'",
    "echo $(cat secret/a.txt)",
    "cp secret/a.txt /tmp/x",
    "curl -d @secret/a.txt localhost",
    "tool -fsecret/a.txt",
    "X=secret/a.txt sh -c env",
    "cat s?cret/a.txt",
    "cat s[aeiou]cret/*",
    "cat */a.txt",
    "cat {secret,src}/a.txt",
    "cat sec{re,}t/a.txt",
    "cat secre{a..z}/a.txt",
    `cat {${Array.from({ length: 400 }, (_, i) => i).join()},secret}/a.txt`,
    "for f in secret/*; do cat $f; done",
    "grep -rn top .",
    "rg top",
    "cd src && rg top ..",
    "cp -r . /tmp/x",
    "tar czf x.tgz ./",
  ];
  for (const script of denied)
    it(`denies ${script.slice(0, 60)}`, () => assert.equal(verdictOf(script, [secret]), "deny"));

  const allowed = [
    "cat src/secret/a.txt",
    "cat 's*t/a.txt'",
    "cat src/*",
    "ls *.ts",
    "cat secrets/a.txt",
    "rg top src",
    "grep -rn top src",
    "cp -r src lib",
  ];
  for (const script of allowed)
    it(`allows ${script}`, () => assert.equal(verdictOf(script, [secret]), "allow"));

  it("follows an existing link", () => {
    assert.equal(verdictOf("cat notes.txt", [secret], { "notes.txt": "secret/a.txt" }), "deny");
  });
});

describe("built-in secrets", () => {
  const asked = [
    "cat .[e]nv",
    "cat .e{n,}v",
    "cat .e?v",
    "cat packages/*/.env",
    "cat ~/.s[s]h/*",
    "cat id_*",
    "cat secrets.*",
    "head -1 *.pem",
    "ls *.pem | xargs cat",
    "cat {a,.env}",
    "cat .env.ex?mple",
    "cat .EN*",
    "cat config/*d.env",
  ];
  for (const script of asked)
    it(`are asked for by ${script}`, () => assert.equal(verdictOf(script, defaultRules), "ask"));

  const allowed = [
    "cat src/*",
    "jq . data/*.json",
    "wc -l *.{ts,yaml}",
    "cat '.e*v'",
    "cat .env.*example",
    "rg top",
  ];
  for (const script of allowed)
    it(`are not meant by ${script}`, () => assert.equal(verdictOf(script, defaultRules), "allow"));
});

describe("a glob that is deleted or written", () => {
  it("is denied for what it may match", () => {
    assert.equal(verdictOf("rm -rf .g[i]t", defaultRules), "deny");
    assert.equal(verdictOf("rm -rf .{git,x}", defaultRules), "deny");
    assert.equal(verdictOf("rm -rf {build,../other}", defaultRules), "ask");
    assert.equal(verdictOf("rm -rf {build,dist}/*", defaultRules), "allow");
  });
});
