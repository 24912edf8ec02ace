import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { isAbsolute } from "node:path";
import { it } from "node:test";
import { homeFolder } from "@lathe/system";
import { stateFolder } from "./state-folder.ts";

it("is never below the workspace", () => {
  assert.equal(homeFolder({ HOME: "/home/x" }), "/home/x");
  const module = JSON.stringify(new URL("./state-folder.ts", import.meta.url).href);
  const script = `const { stateFolder } = await import(${module}); console.log(stateFolder(process.env));`;
  for (const HOME of ["", "here"]) {
    assert.ok(isAbsolute(homeFolder({ HOME })));
    const out = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      env: { HOME },
      encoding: "utf8",
    });
    assert.match(out, /^\/.*\.local\/state\/lathe\n$/);
  }
  assert.equal(stateFolder({ XDG_STATE_HOME: "/state", HOME: "" }), "/state/lathe");
});
