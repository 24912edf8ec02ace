/**
 * Real paths, and the target of a link to a missing file: unknown if a link in its path could lead elsewhere.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { leadsInto, realOr, realPlace, whereLeads } from "./real-path.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-real-path-")));
after(() => rmSync(folder, { recursive: true, force: true }));

it("returns nothing for a path that goes up again through a possible link, however it is written", () => {
  const workspace = join(folder, "workspace");
  mkdirSync(join(workspace, "deep"), { recursive: true });
  for (const name of ["top", "..."]) symlinkSync("..", join(workspace, "deep", name));
  for (const target of ["top/../new", "top/./../new", "top//../new", ".../../new", "./top/.././new"])
    assert.equal(whereLeads(join(workspace, "deep"), target), undefined, target);
  assert.equal(whereLeads(join(workspace, "deep"), ".././../new"), join(folder, "new"));
  assert.equal(whereLeads(join(workspace, "deep"), "./..hidden/new"), join(workspace, "deep/..hidden/new"));
});

describe("a folder and a link to it", () => {
  const [real, link] = [join(folder, "real"), join(folder, "link")];
  before(() => {
    mkdirSync(real);
    symlinkSync(real, link);
  });

  it("are followed, also above missing paths", () => {
    assert.equal(realOr(link), real);
    assert.equal(realOr(join(link, "a")), join(link, "a"));
    assert.equal(realPlace(join(link, "a/b")), join(real, "a/b"));
    assert.equal(realPlace("not-there"), join(realpathSync("."), "not-there"));
  });

  it("are distinguished from a folder whose name only begins the same way", () => {
    assert.ok(leadsInto(join(link, "a"), real) && leadsInto(link, real) && leadsInto(link, "/"));
    assert.ok(!leadsInto(`${real}ly/a`, real) && !leadsInto(folder, real));
  });
});
