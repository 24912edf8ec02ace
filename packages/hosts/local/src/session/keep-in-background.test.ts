import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { watch } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, it } from "node:test";
import { keepInBackground } from "./keep-in-background.ts";

let root: string;
let env: Readonly<Record<string, string>>;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lathe-keep-"));
  env = { HOME: root, XDG_STATE_HOME: root, PATH: process.env.PATH ?? "" };
});
afterEach(() => {
  if (existsSync(join(root, "lathe"))) chmodSync(join(root, "lathe"), 0o700);
  rmSync(root, { recursive: true });
});

const now = Date.now();
const stamp = (): string => join(root, "lathe", "keep-measured");
const touch = (file: string): readonly string[] => [
  process.execPath,
  "-e",
  `require("node:fs").writeFileSync(${JSON.stringify(join(root, file))}, String(require("node:os").getPriority()))`,
];
const longAgo = (): void => utimesSync(stamp(), new Date(now - 4_000_000), new Date(now - 4_000_000));

it("starts at most once an hour, not with the first session, and nothing waits for it", async () => {
  const command = touch("ran");
  assert.equal(keepInBackground({ env, command, now }), false, "nothing is due yet");
  assert.equal(keepInBackground({ env, command, now }), false);
  longAgo();
  const names = watch(root);
  let next = names.next();
  assert.equal(keepInBackground({ env, command, now }), true);
  assert.equal(keepInBackground({ env, command, now }), false);
  while (!existsSync(join(root, "ran"))) {
    await next;
    next = names.next();
  }
  await names.return?.();
  assert.deepEqual(readdirSync(join(root, "lathe")), ["keep-measured"]);
});

it("does nothing if it is switched off, cannot write, or there is no such program", () => {
  const command = [join(root, "none")];
  assert.equal(keepInBackground({ env, command, now }), false);
  longAgo();
  assert.equal(keepInBackground({ env: { ...env, LATHE_KEEP: "off" }, command, now }), false);
  assert.equal(keepInBackground({ env, command, now }), true, "it only did not come to anything");
  rmSync(root, { recursive: true });
  mkdirSync(join(root, "lathe"), { recursive: true });
  const blocked = { ...env, XDG_STATE_HOME: "/dev/null/none" };
  assert.equal(keepInBackground({ env: blocked, command, now }), false);
});
