/** Which globs a search is told to leave out. */
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

it("what is denied or asked for reading is left out, without braces", () => {
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

it("outside the workspace globs from the root count, and none from the workspace", () => {
  const rules = [
    rule("deny", "secret/**"),
    rule("deny", "/srv/{a,b}/**"),
    rule("ask", "**/.env"),
    rule("ask", "*.pem"),
  ];
  assert.deepEqual(unreadable("/srv", rules).toSorted(), ["**/*.pem", "**/.env", "/srv/a/**", "/srv/b/**"]);
  assert.deepEqual(unreadable("/srv/a/x", rules).toSorted(), ["**/*.pem", "**/.env", "/srv/b/**"]);
});

it("what the path itself was allowed against is settled, and nothing else", () => {
  const rules = [rule("ask", "secret/**", ["read"]), rule("ask", "**/{.env,*.pem}", ["read"])];
  assert.deepEqual(unreadable("secret/a", rules).toSorted(), ["**/*.pem", "**/.env"]);
  assert.deepEqual(unreadable("x.pem", rules).toSorted(), ["**/.env", "secret/**"]);
  assert.deepEqual(unreadable(".", [rule("ask", undefined, ["read"])]), []);
});

it("exceptions are not left out, and capitals make no difference where a rule says so", () => {
  const mine = rule("ask", "**/{.env.*,*.key,id_1}");
  const narrowed = unreadable(".", [{ ...mine, except: "**/{.env.*ab,made/**}", ignoreCase: true }]);
  const closed = ["**/.[eE][nN][vV].{*[!aA][bB],[bB],*[!bB]}", "**/.[eE][nN][vV].", "**/*.[kK][eE][yY]"];
  assert.deepEqual(narrowed, [...closed, "**/[iI][dD]_1"]);
  assert.deepEqual(unreadable("A.KEY", [{ ...mine, ignoreCase: true }]).length, 2);
});
