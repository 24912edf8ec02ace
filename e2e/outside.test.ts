/** Reading outside the workspace: what commands see unasked, all else after a yes, and nothing more than that. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { AssistantPart } from "@lathe/protocol";
import { makeOutsideFolder, startWireServer, type WireServer } from "@lathe/testkit";
import { makePlace, type Place, wireEnv } from "./lathe.ts";
import { noTmux, openTmux } from "./tmux.ts";

const size = { columns: 100, rows: 40 };
const done = { parts: [{ type: "text", text: "All done." }] } as const;

function call(id: string, tool: string, input: object): AssistantPart {
  return { type: "tool-call", id, tool, input: JSON.stringify(input) };
}

describe("a path outside the workspace", () => {
  let place: Place;
  let server: WireServer;
  let other: string;
  let turn: number;
  let answers: readonly { readonly parts: readonly AssistantPart[] }[];
  beforeEach(async () => {
    place = makePlace();
    other = makeOutsideFolder();
    for (const [path, text] of [
      [".git/HEAD", "ref: refs/heads/main\n"],
      ["src/api.ts", "export const port = 4711;\n"],
      [".env", "PORT=4711\n"],
    ] as const) {
      mkdirSync(join(other, path, ".."), { recursive: true });
      writeFileSync(join(other, path), text);
    }
    turn = 0;
    answers = [
      {
        parts: [
          call("c1", "read", { path: `${other}/src/api.ts` }),
          call("c2", "grep", { pattern: "4711", path: other }),
        ],
      },
      { parts: [call("c3", "find_files", { glob: "*.ts", path: `${other}/src` })] },
      done,
    ];
    server = await startWireServer(() => answers[turn++] ?? done);
  });
  afterEach(async () => {
    await server.close();
    place.remove();
    rmSync(other, { recursive: true });
  });
  const run = (...args: readonly string[]): ReturnType<Place["run"]> =>
    place.run(["run", ...args, "compare"], { env: wireEnv(server.url) });
  /** What the model has been told by its last request. */
  const told = (): string => {
    const { messages } = JSON.parse(server.records.at(-1)?.text ?? "{}");
    return JSON.stringify(messages.slice(1)).replaceAll(other, "OTHER");
  };

  it("is left unread where nobody can be asked, and the run goes on", async () => {
    const { code } = await run();
    assert.equal(code, 0);
    assert.match(
      told(),
      /OTHER lies outside the workspace, and nobody is there to allow it \(--allow 'read:OTHER\/\*\*' would\)/,
    );
    assert.doesNotMatch(told(), /export const/);
  });

  it("is read, searched and listed with a rule that names it, also by a mode that only reads", async () => {
    for (const mode of ["auto", "read-only"]) {
      turn = 0;
      assert.equal((await run("--permission-mode", mode, "--allow", `read:${other}/**`)).code, 0);
      assert.match(told(), /1\\texport const port/);
      assert.match(
        told(),
        /OTHER\/src\/api\.ts\\n1:export const port.*\[1 file left out by a rule on reading\]/,
      );
      assert.match(told(), /"OTHER\/src\/api\.ts"/);
      assert.doesNotMatch(told(), /PORT=/);
    }
  });

  it("stays closed by a rule on reading, whatever else allows it, and by one that allows everything", async () => {
    place.put(
      "lathe.json",
      JSON.stringify({
        rules: [{ kinds: ["read"], target: `${other}/src/**`, name: "closed", verdict: "deny" }],
      }),
    );
    await run("--allow", `read:${other}/**`);
    assert.match(told(), /Refused \(closed\)/);
    assert.doesNotMatch(told(), /export const/);
    place.put("lathe.json", "{}");
    turn = 0;
    await run("--allow", "read:**");
    assert.doesNotMatch(told(), /export const/);
  });

  it("is never written by the tools for files", async () => {
    answers = [{ parts: [call("c1", "write", { path: `${other}/new.ts`, content: "x" })] }, done];
    await run("--allow", `write:${other}/**`);
    assert.match(told(), /Refused \(write-outside\)/);
  });

  it("is read by `lathe tool` with a rule alone", async () => {
    const args = JSON.stringify({ path: `${other}/src/api.ts` });
    const refused = await place.run(["tool", "read", "--json", args]);
    assert.notEqual(refused.code, 0);
    assert.match(refused.out + refused.err, /lies outside the workspace/);
    const read = await place.run(["tool", "read", "--json", args, "--allow", `read:${other}/**`]);
    assert.match(read.out, /export const port/, read.err);
  });

  it("is asked about once at the plain prompt", async (test) => {
    if (spawnSync("script", ["--version"]).error) return test.skip("no script");
    const running = place.startOnTerminal(["run", "compare"], { env: wireEnv(server.url) });
    await running.said("instead > ");
    running.child.stdin?.write("s\n");
    const { code, out } = await running.ended;
    assert.equal(code, 0, out);
    assert.equal(out.match(/May \w+ look at/g)?.length, 1);
    assert.match(told(), /1\\texport const port/);
  });

  it("is asked about once for its whole repository", { skip: noTmux() }, async () => {
    const terminal = await openTmux(place, ["compare them"], { size, env: wireEnv(server.url) });
    try {
      await terminal.until("look at");
      await terminal.until(/read \/.*\.data-/);
      await terminal.until("Enter answers");
      await terminal.press("2", "Enter");
      await terminal.until("All done.");
      assert.match(told(), /1\\texport const port/);
      assert.match(told(), /"OTHER\/src\/api\.ts"/);
    } finally {
      await terminal.close();
    }
  });
});
