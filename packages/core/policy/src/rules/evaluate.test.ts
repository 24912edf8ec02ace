/** Tests rules against modes, links that disguise files, and the rules' own examples. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Effect, Facts, Failure, Mode, Rule } from "@lathe/protocol";
import { failure, modes } from "@lathe/protocol";
import { assertGrowth } from "@lathe/testkit/growth";
import { fc } from "@lathe/testkit/properties";
import { commandEffects } from "../bench.test.ts";
import { matchesPath, matchesText } from "../globs/glob.ts";
import { matches } from "../globs/match.ts";
import { defaultRules } from "./default-rules.ts";
import { evaluate } from "./evaluate.ts";

const inside = (path: string): Facts["paths"] => ({ [path]: { real: `/w/${path}`, inside: true } });
const facts = (more: Partial<Facts> = {}): Facts => ({
  mode: "auto",
  containment: "full",
  uncontainedAllowed: false,
  paths: {},
  uncovered: [],
  ...more,
});
const allow = (target: string, kind: Effect["kind"]): Rule => ({
  name: "mine",
  verdict: "allow",
  kinds: [kind],
  target,
});

describe("rules' own examples", () => {
  for (const rule of defaultRules) {
    it(rule.name, () => {
      for (const effect of rule.examples.matches)
        assert.ok(matches(rule, effect, facts()), JSON.stringify(effect));
      for (const effect of rule.examples.ignores)
        assert.ok(!matches(rule, effect, facts()), JSON.stringify(effect));
    });
  }
});

describe("evaluate", () => {
  it("allows a question and a call without effects, in every mode", () => {
    for (const mode of modes) {
      assert.equal(evaluate({ effects: [] }, facts({ mode }), defaultRules).verdict, "allow");
      const question = { text: "?", options: [] };
      const effects = [{ kind: "vcs", target: "x" }] as const;
      assert.equal(evaluate({ effects, question }, facts({ mode }), defaultRules).rule, "question");
    }
  });

  it("deny beats ask beats allow, whatever the order of the rules", () => {
    const rules: Rule[] = ["allow", "ask", "deny"].map((verdict) => ({
      name: verdict,
      verdict: verdict as Rule["verdict"],
    }));
    const effects = [{ kind: "read", target: "a" }] as const;
    const judge = (list: readonly Rule[]): string =>
      evaluate({ effects }, facts({ paths: inside("a") }), list).rule;
    assert.equal(judge(rules), "deny");
    assert.equal(judge([...rules].reverse()), "deny");
    assert.equal(judge(rules.slice(0, 2)), "ask");
    assert.equal(judge(rules.slice(0, 1)), "allow");
  });

  it("a rule allows what the mode would ask about, but never what it denies", () => {
    const effects = [{ kind: "vcs", target: "git push origin main" }] as const;
    const judge = (mode: Mode, rule: string): string =>
      evaluate({ effects }, facts({ mode }), [...defaultRules, allow(rule, "vcs")]).verdict;
    const verdicts = (rule: string): readonly string[] =>
      ["auto", "ask", "plan", "read-only"].map((mode) => judge(mode as Mode, rule));
    assert.deepEqual(verdicts("git push origin main"), ["allow", "allow", "deny", "deny"]);
  });

  it("no rule allows an external tool in a read-only mode: only the tool claims that it reads", () => {
    const looking: Effect = { kind: "mcp", target: "hub/list", traits: ["read-only"] };
    const judge = (mode: Mode, effect: Effect, rules: readonly Rule[]): string =>
      evaluate({ effects: [effect] }, facts({ mode }), rules).verdict;
    for (const rule of ["hub/*", "hub/list"]) {
      const verdicts = modes.map((mode) => [mode, judge(mode, looking, [allow(rule, "mcp")])]);
      assert.deepEqual(Object.fromEntries(verdicts), {
        auto: "allow",
        ask: "allow",
        plan: "ask",
        "read-only": "ask",
      });
    }
    const denial: Rule = { ...allow("hub/*", "mcp"), verdict: "deny" };
    assert.equal(judge("plan", looking, [denial]), "deny");
    const starting: Effect = { kind: "mcp", target: "hub/tools/list" };
    assert.deepEqual(modes.map((mode) => judge(mode, starting, [allow("hub/*", "mcp")])).sort(), [
      "allow",
      "allow",
      "deny",
      "deny",
    ]);
    assert.match(evaluate({ effects: [starting] }, facts(), []).why, /^hub would be started/);
  });

  it("irreversible effects need a rule that names exactly them", () => {
    const of = (script: string, target: string, kind: Effect["kind"]): string => {
      const effects = commandEffects(script);
      const paths = { "/etc/x": { real: "/etc/x", inside: false } };
      return evaluate({ effects }, facts({ paths }), [allow("*", "execute"), allow(target, kind)]).verdict;
    };
    for (const rule of ["*", "**", "git push *", "git *", "{git push origin main,x}"])
      assert.equal(of("git push origin main", rule, "vcs"), "ask", rule);
    assert.equal(of("git push origin main --force", "git push origin main", "vcs"), "ask");
    assert.equal(of("rm /etc/x", "/etc/*", "delete"), "ask");
    assert.equal(of("rm /etc/x", "/etc/x", "delete"), "allow");
    assert.equal(of("$CMD", "*", "execute"), "ask");
    assert.equal(of("rm -rf $DIR", "**", "delete"), "ask");
  });

  it("a pipeline is allowed if every part is allowed", () => {
    const rules = [...defaultRules, allow("npm test *", "execute")];
    const effects = commandEffects("npm test -- src/a.test.ts 2>&1 | tail -5 && git status");
    assert.equal(evaluate({ effects }, facts({ mode: "ask" }), rules).verdict, "allow");
    assert.equal(
      evaluate({ effects: commandEffects("npm test; node x") }, facts({ mode: "ask" }), rules).verdict,
      "ask",
    );
  });

  it("a denied command is denied in any wrapper", () => {
    const rules: Rule[] = [{ name: "no", verdict: "deny", kinds: ["execute"], target: "danger *" }];
    for (const script of [
      "danger",
      "danger x",
      "X=1 danger",
      "/usr/bin/danger x",
      "sudo danger",
      "env A=1 danger",
      "a && danger",
      "bash -c 'danger x'",
      "echo $(danger)",
      "timeout 5 danger",
      "d'ang'er x",
    ]) {
      assert.equal(evaluate({ effects: commandEffects(script) }, facts(), rules).verdict, "deny", script);
    }
  });

  it("a link does not disguise its target", () => {
    const read = [{ kind: "read", target: "notes.txt" }] as const;
    const to = (real: string, isInside: boolean): Facts =>
      facts({ paths: { "notes.txt": { real, inside: isInside } } });
    assert.equal(evaluate({ effects: read }, to("/w/.env", true), defaultRules).rule, "secret-files");
    assert.equal(
      evaluate({ effects: read }, to("/etc/passwd", false), [allow("*.txt", "read")]).rule,
      "read-outside",
    );
    const write = [{ kind: "write", target: "notes.txt" }] as const;
    assert.equal(evaluate({ effects: write }, to("/w/.git/config", true), defaultRules).verdict, "deny");
  });

  it("a path without facts counts as outside", () => {
    assert.equal(evaluate({ effects: [{ kind: "write", target: "a" }] }, facts(), []).rule, "write-outside");
    assert.equal(
      evaluate({ effects: [{ kind: "read", target: "constructor" }] }, facts(), []).rule,
      "read-outside",
    );
  });

  it("takes the names that file tools get literally", () => {
    const path = "routes/$id.tsx";
    for (const kind of ["read", "write"] as const) {
      const judged = evaluate({ effects: [{ kind, target: path }] }, facts({ paths: inside(path) }), []);
      assert.equal(judged.verdict, "allow", judged.why);
    }
    const judge = (script: string): string =>
      evaluate({ effects: commandEffects(script) }, facts({ paths: inside(path) }), []).rule;
    assert.equal(judge("rm 'routes/$id.tsx'"), "contained");
    assert.equal(judge("rm routes/$id.tsx"), "undecided-path");
    assert.equal(judge("rm 'routes/$id.tsx' routes/$id.tsx"), "undecided-path");
    assert.equal(judge("rm '~'"), "delete-outside");
    assert.equal(judge("rm ~"), "undecided-path");
  });

  it("denies a file tool what no answer could allow, and says why", () => {
    const circle = failure("no-access", "a leads through a circle of symbolic links.");
    const out = failure("outside-workspace", "a leads to /etc/passwd, outside the workspace /w.");
    const judge = (effects: readonly Effect[], found: Failure) =>
      evaluate({ effects }, facts({ paths: { a: { real: "a", inside: false, failure: found } } }), []);
    for (const kind of ["read", "write", "delete"] as const) {
      const [left, turned] = [out, circle].map((found) => judge([{ kind, target: "a" }], found));
      // A read outside is asked about when it happens.
      const verdict = kind === "read" ? "allow" : "deny";
      assert.deepEqual([left?.verdict, left?.rule], [verdict, `${kind}-outside`]);
      if (kind !== "read") assert.ok(left?.why.startsWith(out.text), left?.why);
      assert.deepEqual(turned, { verdict: "deny", rule: `${kind}-unreachable`, why: circle.text });
    }
    const byCommand = judge(commandEffects("rm a"), out);
    assert.deepEqual(byCommand, { verdict: "ask", rule: "delete-outside", why: out.text });
  });

  it("names the command that nothing would confine, and the solution", () => {
    const effects = commandEffects("npm test");
    const { rule, why } = evaluate({ effects }, facts({ containment: "none" }), []);
    assert.equal(rule, "uncontained");
    assert.match(why, /`npm test`.*`lathe doctor`.*`--no-sandbox`/);
  });

  it("names first what only a person may allow", () => {
    const refusals = [{ kind: "write", target: "a", isOld: true }] as const;
    const effects = [
      { kind: "network", target: "example.org", traits: ["named"] },
      { kind: "write", target: "a" },
    ] as const;
    const asks: Rule = { name: "mine", verdict: "ask" };
    const judge = (mode: Mode, rules: readonly Rule[]): string =>
      evaluate({ effects }, facts({ mode, refusals, paths: inside("a") }), rules).rule;
    for (const rules of [[], [asks]])
      for (const mode of ["auto", "ask"] as const) assert.equal(judge(mode, rules), "refused-before");
    assert.equal(judge("auto", [{ ...asks, verdict: "deny" }]), "mine");
    const bare = facts({ containment: "none" });
    assert.equal(evaluate({ effects: commandEffects("npm test") }, bare, [asks]).rule, "uncontained");
  });

  it("own processes may always be signalled, others only in a sandbox", () => {
    const judge = (target: string, more: Partial<Facts>): string =>
      evaluate({ effects: [{ kind: "process", target }] }, facts(more), defaultRules).verdict;
    assert.equal(judge("p12", { mode: "plan", containment: "none" }), "allow");
    assert.equal(judge("kill 1", { containment: "none" }), "ask");
    assert.equal(judge("kill 1", {}), "allow");
  });
});

describe("globs", () => {
  const cases: readonly (readonly [boolean, string, string])[] = [
    [true, "*.ts", "src/a.ts"],
    [true, "src/*.ts", "src/a.ts"],
    [false, "src/*.ts", "src/b/a.ts"],
    [true, "src/**", "src/b/a.ts"],
    [true, "src/**", "src"],
    [true, "**/a.ts", "a.ts"],
    [true, "src/**/a.ts", "src/a.ts"],
    [true, "src/**/a.ts", "src/x/y/a.ts"],
    [false, "src", "srcs"],
    [false, "a**/b", "ab"],
    [true, "a**/b", "ax/y/b"],
    [true, "{a,b*}/c", "bx/c"],
    [false, "a.c", "abc"],
    [true, "a?c", "abc"],
    [true, "a b *", "x/a b c"],
    [true, "[a]", "[a]"],
  ];
  for (const [expected, glob, path] of cases) {
    it(`${glob} ${expected ? "matches" : "does not match"} ${path}`, () =>
      assert.equal(matchesPath(glob, path), expected));
  }

  it("in commands, a star matches slashes and spaces, and a final one also nothing", () => {
    assert.ok(matchesText("npm test *", "npm test"));
    assert.ok(matchesText("npm test *", "npm test -- a/b c"));
    assert.ok(!matchesText("npm test *", "npm tester"));
    assert.ok(matchesText("npm run test*", "npm run test:unit"));
    assert.ok(matchesText("*.example.com", "api.example.com"));
    assert.ok(!matchesText("*.example.com", "api.example.com.evil.org"));
    assert.ok(matchesText("a*b", "a\nb"));
  });
});

describe("any script", () => {
  const word = fc.constantFrom(
    "git",
    "push",
    "rm",
    "-rf",
    "'",
    '"',
    "$(",
    ")",
    "`",
    "${",
    "}",
    "<<EOF",
    "\n",
    "EOF",
    ";",
    "|",
    "&&",
    ">",
    "<(",
    "\\",
    "a",
    "$x",
    "#",
    "(",
    "\0",
  );

  it("has at least one execute, and never throws", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(word).map((words) => words.join(" ")),
          fc.array(word).map((words) => words.join("")),
        ),
        (script) => {
          assert.ok(commandEffects(script).some(({ kind }) => kind === "execute"));
        },
      ),
      { numRuns: 200 },
    );
  });

  it("is recognized if it contains `git push` as a command, whatever surrounds it", () => {
    const around = fc.constantFrom(
      "npm test",
      "echo 'a b'",
      'echo "x"',
      "ls > out",
      "cat <<E\nx\nE",
      "(cd a)",
      "x=1",
      "! true",
      "[[ a ]]",
    );
    fc.assert(
      fc.property(
        around,
        around,
        fc.constantFrom(";", "&&", "||", "|", "\n", "&"),
        (before, after, operator) => {
          const effects = commandEffects(`${before}\n git push ${operator} ${after}`);
          assert.ok(effects.some(({ kind }) => kind === "vcs"));
        },
      ),
    );
  });

  it("is read in linear time", () => {
    for (const piece of ["$(", "`", "${", "(", "<<E\n", '"', "a=$(b ", "{a,", "x | "]) {
      const work = (times: number): unknown => commandEffects(piece.repeat(times));
      assertGrowth(work, { sizes: [1_000, 8_000], atMost: 32, name: piece });
    }
  });
});
