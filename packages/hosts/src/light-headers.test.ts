import assert from "node:assert/strict";
import { it } from "node:test";
import { useLightHeaders } from "./light-headers.ts";

it("does for the provider packages what the real ones do, without loading undici", () => {
  useLightHeaders();
  const headers = new Headers({ "User-Agent": "lathe" });
  headers.append("user-agent", "more");
  headers.set("A", "1");
  headers.append("Gone", "x");
  headers.delete("gone");
  assert.deepEqual(
    [...headers],
    [
      ["a", "1"],
      ["user-agent", "lathe, more"],
    ],
  );
  assert.deepEqual(Object.fromEntries(headers.entries()), { a: "1", "user-agent": "lathe, more" });
  assert.deepEqual(
    [headers.get("USER-AGENT"), headers.has("b"), headers.get("b")],
    ["lathe, more", false, null],
  );
  assert.deepEqual(new Headers([["X", "2"]]).get("x"), "2");
  const loaded = (process as unknown as { moduleLoadList: string[] }).moduleLoadList;
  assert.ok(!loaded.some((name) => name.includes("undici/undici")));
});
