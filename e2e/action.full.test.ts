/**
 * Tests the GitHub action's script as a runner starts it: no terminal, inputs as variables, outputs in files.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { startWireServer, type WireServer } from "@lathe/testkit";
import { makePlace, type Place, wireEnv } from "./lathe.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

describe("the GitHub action", () => {
  let place: Place;
  let server: WireServer;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(async () => {
    await server.close();
    place.remove();
  });

  const act = async (inputs: Readonly<Record<string, string>>) => {
    const files = {
      GITHUB_OUTPUT: join(place.home, "output"),
      GITHUB_STEP_SUMMARY: join(place.home, "summary"),
    };
    for (const file of Object.values(files)) writeFileSync(file, "");
    const env = {
      ...{ ...wireEnv(server.url), ...files, ...inputs },
      LATHE_ACTION_COMMAND: join(root, "apps/cli/bin/lathe.mjs"),
    };
    const ended = await place.run([], { env, before: ["bash", join(root, "scripts/run-action.sh")] });
    const outputs = readFileSync(files.GITHUB_OUTPUT, "utf8");
    const outputOf = (name: string) =>
      new RegExp(`^${name}<<(.*)\\n([\\s\\S]*?)\\n\\1$`, "m").exec(outputs)?.[2];
    return { ...ended, outputOf, summary: readFileSync(files.GITHUB_STEP_SUMMARY, "utf8") };
  };

  it("passes on the answer, whatever it contains, and runs no part of the task in a shell", async () => {
    server = await startWireServer([{ parts: [{ type: "text", text: "one\ntwo<<EOF\nEOF" }] }]);
    const task = '`touch made`; $(touch made) "quoted"';
    const { code, out, outputOf, summary } = await act({
      LATHE_ACTION_TASK: task,
      LATHE_ACTION_MAX_STEPS: "3",
    });
    assert.deepEqual([code, out, outputOf("result")], [0, "", "one\ntwo<<EOF\nEOF"]);
    assert.match(outputOf("session") ?? "", /^\w+-\w+$/);
    assert.equal(JSON.parse(readFileSync(outputOf("file") ?? "", "utf8")).steps, 1);
    assert.match(JSON.stringify(server.records[0]?.request.messages), /touch made/);
    assert.equal(existsSync(join(place.workspace, "made")), false);
    assert.match(summary, /exit code 0/);
  });

  it("passes on JSON that matches a schema, and the exit code of a failed run", async () => {
    server = await startWireServer((_, i) => ({
      parts: [{ type: "text", text: i === 0 ? '{"a": 1}' : "no" }],
    }));
    place.put("schema.json", '{"type":"object","required":["a"]}');
    const inputs = { LATHE_ACTION_TASK: "go", LATHE_ACTION_JSON_SCHEMA: "schema.json" };
    const right = await act(inputs);
    assert.deepEqual([right.code, right.outputOf("result")], [0, '{"a":1}']);
    const wrong = await act(inputs);
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /does not match the schema/);
    assert.ok(!`${wrong.out}${wrong.err}${wrong.summary}`.includes("test-key"));
  });

  it("passes on every input of action.yml, and puts no expression into a script", () => {
    const text = readFileSync(join(root, "action.yml"), "utf8");
    const inputs = [...(/^inputs:\n([\s\S]*?)^outputs:/m.exec(text)?.[1] ?? "").matchAll(/^ {2}([\w-]+):/gm)];
    assert.ok(inputs.length > 5);
    for (const [, name] of inputs) assert.ok(text.includes(`\${{ inputs.${name} }}`), name);
    const scripts = [...text.matchAll(/^ +run: (.*)$/gm)].map(([, script]) => script);
    assert.ok(scripts.length > 0 && scripts.every((script) => !script?.includes("{{")));
    const { status, stderr } = spawnSync("bash", ["-n", join(root, "scripts/run-action.sh")], {
      encoding: "utf8",
    });
    assert.deepEqual([status, stderr], [0, ""]);
  });
});
