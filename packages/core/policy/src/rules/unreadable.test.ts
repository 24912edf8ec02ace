/** Tests which globs a search must exclude. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { Rule } from "@lathe/protocol";
import { unreadable } from "./unreadable.ts";

const rule = (verdict: Rule["verdict"], target: string | undefined, kinds?: Rule["kinds"]): Rule => ({
  name: "mine",
  verdict,
  ...(target !== undefined && { target }),
  ...(kinds && { kinds }),
});

it("excludes what rules deny or ask about for reading, without braces", () => {
  const rules = [
    rule("deny", "secret/**", ["read"]),
    rule("ask", "**/{.env,[id].key}"),
    rule("deny", "dist/**", ["write"]),
    rule("allow", "src/**", ["read"]),
    rule("deny", "/etc/**", ["read"]),
    rule("deny", "!odd", ["read"]),
    rule("ask", "my**", ["read"]),
  ];
  const expected = ["**/.env", "**/\\[id\\].key", "**/!odd", "**/my*", "**/my*/**/*", "secret/**"];
  assert.deepEqual(unreadable(".", rules).toSorted(), expected.toSorted());
});

it("outside the workspace, globs from the root count, and none from the workspace", () => {
  const rules = [
    rule("deny", "secret/**"),
    rule("deny", "/srv/{a,b}/**"),
    rule("ask", "**/.env"),
    rule("ask", "*.pem"),
  ];
  assert.deepEqual(unreadable("/srv", rules).toSorted(), ["**/*.pem", "**/.env", "/srv/a/**", "/srv/b/**"]);
  assert.deepEqual(unreadable("/srv/a/x", rules).toSorted(), ["**/*.pem", "**/.env", "/srv/b/**"]);
});

it("a rule that was overridden for the path itself is settled, and no other", () => {
  const rules = [rule("ask", "secret/**", ["read"]), rule("ask", "**/{.env,*.pem}", ["read"])];
  assert.deepEqual(unreadable("secret/a", rules).toSorted(), ["**/*.pem", "**/.env"]);
  assert.deepEqual(unreadable("x.pem", rules).toSorted(), ["**/.env", "secret/**"]);
  assert.deepEqual(unreadable(".", [rule("ask", undefined, ["read"])]), []);
});

it("keeps exceptions readable, and ignores case if a rule says so", () => {
  const mine = rule("ask", "**/{.env.*,*.key,id_1}");
  const narrowed = unreadable(".", [{ ...mine, except: "**/{.env.*ab,made/**}", ignoreCase: true }]);
  const closed = ["**/.[eE][nN][vV].{*[!aA][bB],[bB],*[!bB]}", "**/.[eE][nN][vV].", "**/*.[kK][eE][yY]"];
  assert.deepEqual(narrowed, [...closed, "**/[iI][dD]_1"]);
  assert.deepEqual(unreadable("A.KEY", [{ ...mine, ignoreCase: true }]).length, 2);
});
