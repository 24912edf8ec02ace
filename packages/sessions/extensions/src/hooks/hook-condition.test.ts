/** The calls that a hook's `if` matches. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { coverage, readCondition } from "./hook-condition.ts";

function coverageOf(text: string, command: string): string | undefined {
  const condition = readCondition(text);
  return condition && coverage(condition, { tool_name: "Bash", tool_input: { command } }, "/w");
}

it("matches commands like Claude Code's rules", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["Bash(rm *)", "rm -rf x", "all"],
    ["Bash(rm *)", "rm", "all"],
    ["Bash(rm *)", "rmdir x", "none"],
    ["Bash(rm *)", "ls rm", "none"],
    ["Bash(rm:*)", "rm 'a b'", "all"],
    ["Bash(git push*)", "git push --force && git push x", "all"],
    ["Bash(git push *)", "cd a && git push", "some"],
    ["Bash(git *)", "TOKEN=x time git log > a.txt", "all"],
    ["Bash(git *)", "if true; then git push; fi", "some"],
    ["Bash(* --force)", "git push --force", "all"],
    ["Bash(npm run test)", "npm run tests", "none"],
    ["Bash(rm *)", "sh -c 'rm x'", "some"],
    ["Bash(rm *)", 'echo "$(rm x)"', "some"],
    ["Bash(rm *)", "$X y", "some"],
    ["Bash", "ls", "all"],
    ["Bash(*)", "ls", "all"],
    ["Edit", "ls", "none"],
  ];
  for (const [condition, command, expected] of rows)
    assert.equal(coverageOf(condition, command), expected, `${condition}: ${command}`);
});

it("does not read a condition it does not understand", () => {
  for (const text of ["", "Bash()", "Edit(*.ts)", "tool_input.command matches 'x'", "Bash(a", "Bash|Edit"])
    assert.equal(readCondition(text), undefined, text);
});
