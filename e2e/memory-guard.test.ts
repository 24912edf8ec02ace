/**
 * Tests that memory, saved permissions and plans change only with a person's approval, even inside the
 * workspace.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { AssistantPart } from "@lathe/protocol";
import { startWireServer, type WireServer } from "@lathe/testkit";
import { noForks } from "./attempts-bench.ts";
import { makePlace } from "./in-process.ts";
import { type Place, wireEnv } from "./lathe.ts";

const memory = "config/lathe/memory.md";
const kept = "- use tabs\n";
const projects = "config/lathe/projects";
const plan = "state/lathe/plans/s.md";
/** A script whose text does not reveal its effect. */
const moving = `const fs = require("fs");
try { fs.renameSync("config", "c2"); } catch {}
fs.mkdirSync("config/lathe", { recursive: true });
fs.writeFileSync("config/lathe/memory.md", "- mine");
`;
let last = 0;
const call = (tool: string, input: object): AssistantPart => ({
  ...{ type: "tool-call", id: `c${++last}`, tool },
  input: JSON.stringify(input),
});
const shell = (command: string): AssistantPart => call("shell", { command });

const skip = await noForks();

describe("memory and plans inside the workspace", { ...(skip !== undefined && { skip }) }, () => {
  let place: Place;
  let server: WireServer;
  let isStateHere = true;
  beforeEach(() => {
    isStateHere = true;
    place = makePlace();
    place.put(memory, kept);
    place.put(plan, "plan\n");
    place.put("move.cjs", moving);
    mkdirSync(join(place.workspace, projects), { recursive: true });
  });
  afterEach(async () => {
    await server.close();
    place.remove();
  });
  const run = async (calls: readonly AssistantPart[], ...args: readonly string[]): Promise<string> => {
    server = await startWireServer([
      ...calls.map((one) => ({ parts: [one] })),
      { parts: [{ type: "text", text: "done" }] },
    ]);
    const env = {
      ...wireEnv(server.url),
      ...(isStateHere && { XDG_STATE_HOME: join(place.workspace, "state") }),
      XDG_CONFIG_HOME: join(place.workspace, "config"),
    };
    const { err } = await place.run(["run", ...args, "go"], { env });
    // Each call was tried without a question, which would have ended the run.
    assert.equal(server.records.length, calls.length + 1, err);
    return err;
  };
  const text = (path: string): string => readFileSync(join(place.workspace, path), "utf8");
  const isAsBefore = (): void => {
    assert.equal(text(memory), kept);
    assert.equal(text(plan), "plan\n");
    assert.equal(existsSync(join(place.workspace, projects, "x.memory.md")), false);
  };

  it("cannot be changed by the file tools, under any name", async () => {
    await run([
      call("write", { path: memory, content: "- mine\n" }),
      call("write", { path: join(place.workspace, projects, "x.memory.md"), content: "- mine\n" }),
      call("write", { path: plan, content: "mine\n" }),
      call("read", { path: memory }),
      call("edit", { path: memory, old: "use tabs", new: "use mine" }),
      call("move", { from: memory, to: "m.md" }),
      call("delete", { path: memory }),
      call("delete", { path: plan }),
    ]);
    isAsBefore();
  });

  it("cannot be changed by commands, whatever their text", async () => {
    await run([
      shell(`echo '- mine' > ${memory}`),
      shell(`f=memory; python3 -c 'open("config/lathe/mem" + "ory.md", "w").write("- mine")'`),
      shell(`cd config; cd lathe; tee projects/x.memory.md <<< '- mine'`),
      shell(`ln ${memory} m.md; echo '- mine' >> m.md`),
      shell(`ln -s config/lathe l; echo '- mine' > l/memory.md`),
      shell("mv config c2; mkdir -p config/lathe; echo '- mine' > config/lathe/memory.md"),
      shell("node move.cjs"),
      shell(`python3 -c 'open("state/lathe/pl" + "ans/s.md", "w").write("mine")'`),
    ]);
    isAsBefore();
  });

  it("cannot be changed by applying a fork", async () => {
    isStateHere = false;
    const err = await run([shell("node move.cjs"), shell("mkdir -p src && echo 1 > src/a")], "--fork");
    const env = { XDG_CONFIG_HOME: join(place.workspace, "config") };
    const listed = await place.run(["fork", "list", "--json"], { env });
    const [fork] = JSON.parse(listed.out) as readonly { readonly id: string }[];
    const { code } = await place.run(["fork", "keep", fork?.id ?? err, "--host-run", "--force"], { env });
    assert.deepEqual([code, text("src/a")], [0, "1\n"]);
    isAsBefore();
  });
});
