/** Tests the name of the command in suggestions. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { commandName } from "./command-name.ts";

it("names npx only where npx finds this copy of Lathe", () => {
  const npx = { npm_command: "exec", npm_config_local_prefix: "/home/ada/clone" };
  assert.equal(commandName(npx, "/home/ada/clone"), "npx lathe");
  assert.equal(commandName(npx, "/home/ada/clone/docs"), "npx lathe");
  assert.equal(commandName(npx, "/home/ada/clone-2"), "lathe");
  assert.equal(commandName({ npm_command: "exec" }, "/home/ada"), "lathe");
  assert.equal(commandName({}, "/home/ada/clone"), "lathe");
});
