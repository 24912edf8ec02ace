/** An ID prefix that fits a fork and a working tree is refused. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { failure, isFailure } from "@lathe/protocol";
import { findWaiting, type WaitingCopies } from "./find-waiting.ts";

interface Copy {
  readonly id: string;
}

function copies(...ids: readonly string[]): WaitingCopies<Copy> {
  return {
    find: (start) => {
      const found = ids.includes(start) ? [start] : ids.filter((id) => id.startsWith(start));
      if (found.length > 1) return failure("invalid-arguments", "several", { who: "user" });
      return found[0] === undefined ? undefined : { id: found[0] };
    },
  };
}

function find(start: string, forks: WaitingCopies<Copy>, trees: WaitingCopies<Copy>): string {
  const found = findWaiting(start, forks, trees);
  if (isFailure(found)) return found.code;
  return found.type === "fork" ? `fork ${found.fork.id}` : `tree ${found.tree.id}`;
}

it("finds one among forks and working trees, and none if the prefix is ambiguous", () => {
  assert.equal(find("2", copies(), copies()), "invalid-arguments");
  assert.equal(find("2a", copies(), copies("2ab")), "tree 2ab");
  assert.equal(find("2a", copies("2ac"), copies()), "fork 2ac");
  assert.equal(find("2a", copies("2ac"), copies("2ab")), "invalid-arguments");
  assert.equal(find("2ab", copies("2abc"), copies("2ab")), "tree 2ab");
  assert.equal(find("2ab", copies("2ab"), copies("2abc")), "fork 2ab");
  assert.equal(find("2a", copies("2ac", "2ad"), copies("2ab")), "invalid-arguments");
});
