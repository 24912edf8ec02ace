/** A person at a terminal: questions and their answers, interruptions. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { AssistantPart } from "@lathe/protocol";
import { startWireServer, type WireServer } from "@lathe/testkit";
import { makePlace, type Place, wireEnv } from "./lathe.ts";

function shell(command: string): { readonly parts: readonly AssistantPart[] } {
  return { parts: [{ type: "tool-call", id: "c1", tool: "shell", input: JSON.stringify({ command }) }] };
}

const done = { parts: [{ type: "text", text: "All done." }] } as const;

/** That of util-linux, which takes the command as an option. */
function hasScript(): boolean {
  try {
    return execFileSync("script", ["--version"], { encoding: "utf8" }).includes("util-linux");
  } catch {
    return false;
  }
}

describe("on a terminal", { skip: !hasScript() }, () => {
  let place: Place;
  let server: WireServer | undefined;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(async () => {
    await server?.close();
    server = undefined;
    place.remove();
  });

  it("a key typed before the question allows nothing, one typed after it does", async () => {
    let type: (keys: string) => void = () => {};
    let turn = 0;
    server = await startWireServer(() => {
      // Typed while the model thinks.
      type("y\ny");
      return turn++ === 0 ? shell("touch made") : done;
    });
    const args = ["run", "--no-sandbox", "--permission-mode", "ask", "do it"];
    const running = place.startOnTerminal(args, { env: wireEnv(server.url) });
    type = (keys) => void running.child.stdin?.write(keys);
    await running.said("instead > ");
    assert.equal(existsSync(join(place.workspace, "made")), false);
    type("y\n");
    const { code, out } = await running.ended;
    assert.deepEqual([code, existsSync(join(place.workspace, "made"))], [0, true], out);
    assert.match(out, /\? May shell do this\?\r\n {2}touch made\r\n.*\r\n\[y\]es, \[n\]o/);
  });
});
