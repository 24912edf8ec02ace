/** Which calls a hook's `if` names. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { holds, readCondition } from "./hook-condition.ts";

function holding(text: string, command: string): string | undefined {
  const condition = readCondition(text);
  return condition && holds(condition, { tool_name: "Bash", tool_input: { command } }, "/w");
}

it("commands are told apart as Claude Code's rules do", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["Bash(rm *)", "rm -rf x", "wholly"],
    ["Bash(rm *)", "rm", "wholly"],
    ["Bash(rm *)", "rmdir x", "not"],
    ["Bash(rm *)", "ls rm", "not"],
    ["Bash(rm:*)", "rm 'a b'", "wholly"],
    ["Bash(git push*)", "git push --force && git push x", "wholly"],
    ["Bash(git push *)", "cd a && git push", "in-part"],
    ["Bash(git *)", "TOKEN=x time git log > a.txt", "wholly"],
    ["Bash(git *)", "if true; then git push; fi", "in-part"],
    ["Bash(* --force)", "git push --force", "wholly"],
    ["Bash(npm run test)", "npm run tests", "not"],
    ["Bash(rm *)", "sh -c 'rm x'", "in-part"],
    ["Bash(rm *)", 'echo "$(rm x)"', "in-part"],
    ["Bash(rm *)", "$X y", "in-part"],
    ["Bash", "ls", "wholly"],
    ["Bash(*)", "ls", "wholly"],
    ["Edit", "ls", "not"],
  ];
  for (const [condition, command, expected] of rows)
    assert.equal(holding(condition, command), expected, `${condition}: ${command}`);
});

it("what is not understood is none", () => {
  for (const text of ["", "Bash()", "Edit(*.ts)", "tool_input.command matches 'x'", "Bash(a", "Bash|Edit"])
    assert.equal(readCondition(text), undefined, text);
});
