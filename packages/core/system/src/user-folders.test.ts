import assert from "node:assert/strict";
import { isAbsolute } from "node:path";
import { it } from "node:test";
import { cacheFolder, configFolder, homeFolder } from "./user-folders.ts";

it("follows the XDG variables, and ignores relative paths", () => {
  const env = { HOME: "/home/x", XDG_CONFIG_HOME: "/config", XDG_CACHE_HOME: "/cache" };
  assert.deepEqual([configFolder(env), cacheFolder(env)], ["/config/lathe", "/cache/lathe"]);
  const relative = { HOME: "/home/x", XDG_CONFIG_HOME: "config", XDG_CACHE_HOME: "" };
  assert.deepEqual(
    [configFolder(relative), cacheFolder(relative)],
    ["/home/x/.config/lathe", "/home/x/.cache/lathe"],
  );
  for (const HOME of ["", "here", undefined]) assert.ok(isAbsolute(homeFolder({ HOME })));
});
