import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { isInside, liesIn, nearestReal, realOr } from "./real-path.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-real-path-")));
const [real, link] = [join(root, "real"), join(root, "link")];
mkdirSync(real);
symlinkSync(real, link);
after(() => rmSync(root, { recursive: true }));

it("follows links, also above what does not exist yet", () => {
  assert.equal(realOr(link), real);
  assert.equal(realOr(join(link, "a")), join(link, "a"));
  assert.equal(nearestReal(join(link, "a/b")), join(real, "a/b"));
});

it("tells a folder from one whose name only begins like it", () => {
  assert.ok(isInside(real, real) && isInside(real, join(real, "a")) && isInside("/", real));
  assert.ok(!isInside(real, `${real}ly`));
  assert.ok(liesIn(join(link, "a"), real) && liesIn(link, real) && liesIn(link, "/"));
  assert.ok(!liesIn(`${real}ly/a`, real) && !liesIn(root, real));
});
