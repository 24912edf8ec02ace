/**
 * A write to a file that runs later is asked about, with any tool and spelling; files that agents edit daily
 * are not.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Effect, Facts, PathFact, Rule } from "@lathe/protocol";
import { spelledRunLaterPaths } from "@lathe/testkit";
import { defaultRules } from "./default-rules.ts";
import { evaluate } from "./evaluate.ts";

const mine: Rule = { name: "mine", verdict: "allow", kinds: ["write"], target: "**" };

function decide(effects: readonly Effect[], fact: Partial<PathFact> = {}, rules: readonly Rule[] = []) {
  const paths = Object.fromEntries(
    effects.map(({ target }) => [target, { real: target, inside: true, ...fact }]),
  );
  const facts: Facts = {
    mode: "auto",
    containment: "full",
    uncontainedAllowed: false,
    uncovered: [],
    unsaved: false,
    paths,
  };
  return evaluate({ effects }, facts, [...defaultRules, ...rules]);
}

const write = (target: string): Effect => ({ kind: "write", target });

describe("files that run later", () => {
  it("are asked about for each tool that writes, moves or deletes, by any name and through a link", () => {
    for (const { path } of spelledRunLaterPaths()) {
      assert.equal(decide([write(path)]).verdict, "ask", `write ${path}`);
      assert.equal(decide([write(path)], {}, [mine]).verdict, "ask", `write ${path}, allowed by a rule`);
      assert.equal(decide([{ kind: "delete", target: path }]).verdict, "ask", `delete ${path}`);
      const move = [{ kind: "delete", target: "a" }, write(path)] as const;
      assert.equal(decide(move).verdict, "ask", `move to ${path}`);
      assert.equal(decide([write("link")], { real: path }).verdict, "ask", `write through a link to ${path}`);
    }
  });

  it("are asked about when a folder is moved above them", () => {
    for (const name of [".cargo", ".CONFIG", "sub/.github", ".yarn", ".hg"]) {
      assert.equal(decide([{ kind: "delete", target: "a" }, write(name)]).rule, "runs-later", name);
      assert.equal(decide([write(name)], {}, [mine]).verdict, "ask", `${name}, allowed by a rule`);
      const command: Effect = { kind: "execute", target: `mkdir ${name}` };
      assert.equal(decide([command, write(name)]).verdict, "allow", `mkdir ${name}`);
    }
  });

  it("do not include files that are edited daily", () => {
    const daily =
      "package.json Makefile justfile .github/workflows/ci.yml .github/dependabot.yml Dockerfile .gitignore .editorconfig " +
      "AGENTS.md CLAUDE.md tsconfig.json .pre-commit-config.yaml .eslintrc.json .prettierrc .nvmrc .tool-versions .config/a.json " +
      "src/hooks/use-it.ts src/config/index.ts config.yaml app/modules/a.ts objects/a refs/b .yarn/cache/a.zip .pnp.cjs";
    for (const path of daily.split(" ")) assert.equal(decide([write(path)]).verdict, "allow", path);
  });
});

it("a file that another program runs is asked about with its reason", () => {
  const fact = { obeyed: "git's settings name it" };
  assert.equal(decide([write("scripts/hooks/pre-commit")], fact).rule, "runs-later");
  assert.equal(decide([write("scripts/hooks/pre-commit")], fact, [mine]).verdict, "ask");
});

describe("a folder that git would treat as a repository", () => {
  it("is asked about for the file that would make it one", () => {
    for (const name of ["HEAD", "sub/HEAD", "sub/head"]) {
      assert.equal(decide([write(name)]).rule, "git-folder", name);
      assert.equal(decide([write(name)], {}, [mine]).verdict, "ask");
      assert.equal(decide([write("link")], { real: name }).rule, "git-folder");
    }
    for (const name of ["HEAD.md", "src/header", "HEAD/a"])
      assert.equal(decide([write(name)]).verdict, "allow", name);
  });

  it("is asked about for all files that git reads in it, once it is one", () => {
    assert.equal(decide([write("sub/config")], { repository: "sub" }).rule, "git-folder");
    assert.equal(decide([write("config")], { repository: "" }, [mine]).rule, "git-folder");
    assert.equal(decide([{ kind: "delete", target: "config" }], { repository: "" }).verdict, "allow");
  });
});
