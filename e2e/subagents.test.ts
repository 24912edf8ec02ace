/** Tests subagents of the real command: live progress, and resuming after `kill -9`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { AssistantPart } from "@lathe/protocol";
import { startWireServer, type WireAnswer, type WireRecord, type WireServer } from "@lathe/testkit";
import { Ajv2020 } from "ajv/dist/2020.js";
import { call } from "./answer-parts.ts";
import { makePlace } from "./in-process.ts";
import { type Place, wireEnv } from "./lathe.ts";

const note = (word: string): AssistantPart =>
  call(`s-${word}`, "shell", { command: `echo ${word} >> ran.txt` });

function isChilds({ request }: WireRecord): boolean {
  return request.system.includes("You are a subagent");
}

function parentSays(results: number): WireAnswer {
  if (results > 0) return { parts: [{ type: "text", text: "All is done." }] };
  return { parts: [call("t1", "task", { agent: "implement", prompt: "note it twice" })] };
}

function childSays(results: number): WireAnswer {
  const [first, second] = [note("one"), note("two")];
  return { parts: [[first, second][results] ?? { type: "text", text: "Noted." }] };
}

describe("subagents of the command", () => {
  let place: Place;
  let server: WireServer;
  let stalls = false;
  const stalled = Promise.withResolvers<void>();
  beforeEach(async () => {
    place = makePlace();
    stalls = true;
    server = await startWireServer((record): WireAnswer => {
      const results = record.request.messages.filter(({ role }) => role === "tool").length;
      if (!isChilds(record)) return parentSays(results);
      if (results !== 1 || !stalls) return childSays(results);
      stalled.resolve();
      return { ...childSays(1), fault: { type: "stall", after: "nothing", pings: true } };
    });
  });
  afterEach(async () => {
    await server.close();
    place.remove();
  });

  it("are in the result of the run", async () => {
    stalls = false;
    const env = wireEnv(server.url);
    const { code, out, err } = await place.run(["run", "--output-format", "json", "go"], { env });
    assert.equal(code, 0, err);
    const { subagents, usage } = JSON.parse(out);
    assert.equal(subagents.sessions, 1);
    assert.ok(subagents.tokens > 0 && subagents.cost > 0, out);
    const tree = JSON.parse(
      (await place.run(["sessions", "cost", "--json", JSON.parse(out).session])).out,
    ).tree;
    assert.equal(tree.tokens, usage.input + usage.output + subagents.tokens);
  });

  it("are in the trajectory of their parent, as the format's makers specify", async () => {
    stalls = false;
    const env = wireEnv(server.url);
    const ran = await place.run(["run", "--output-format", "json", "go"], { env });
    const { session, cost, subagents } = JSON.parse(ran.out);
    const { out, code } = await place.run(["sessions", "export", session, "--format", "atif"]);
    assert.equal(code, 0);
    const trajectory = JSON.parse(out);
    const schema = JSON.parse(readFileSync(new URL("./fixtures/atif/schema.json", import.meta.url), "utf8"));
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const isTrajectory = ajv.compile(schema);
    assert.ok(isTrajectory(JSON.parse(out)), JSON.stringify(isTrajectory.errors));
    const [child] = trajectory.subagent_trajectories;
    const { steps, trajectory_id: id } = child;
    assert.notEqual(id, trajectory.trajectory_id);
    type Results = {
      observation?: { results: { source_call_id: string; subagent_trajectory_ref?: object }[] };
    };
    const results = trajectory.steps.flatMap(({ observation }: Results) => observation?.results ?? []);
    assert.deepEqual(results[0].subagent_trajectory_ref, [{ trajectory_id: id, session_id: id }]);
    assert.equal(results[0].source_call_id, "t1");
    for (const one of [trajectory, child])
      assert.deepEqual(
        one.steps.map((step: { step_id: number }) => step.step_id),
        one.steps.map((_: unknown, at: number) => at + 1),
      );
    assert.equal(steps.at(-1).message, "Noted.");
    const all = trajectory.final_metrics.total_cost_usd;
    assert.ok(Math.abs(all - cost - subagents.cost) < 1e-9, `${all}`);
    assert.ok(Math.abs(child.final_metrics.total_cost_usd - subagents.cost) < 1e-9);
  });

  it("continue where they were after kill -9, in the same session", async () => {
    const env = wireEnv(server.url);
    const running = place.start(["run", "--output-format", "stream-json", "go"], { env });
    await stalled.promise;
    running.child.kill("SIGKILL");
    await running.ended;
    const killed = JSON.parse((await place.run(["sessions", "list", "--json"])).out);
    assert.deepEqual(
      killed.map(({ status, state }: Record<string, string>) => [status, state]),
      [
        ["open", "runner-away"],
        ["open", "runner-away"],
      ],
    );
    stalls = false;
    const { code, out, err } = await place.run(["run", "--continue"], { env });
    assert.equal(code, 0, err);
    assert.equal(out, "All is done.\n");
    assert.equal(readFileSync(join(place.workspace, "ran.txt"), "utf8"), "one\ntwo\n");
    const list = JSON.parse((await place.run(["sessions", "list", "--json"])).out);
    assert.deepEqual(
      list.map(({ agent, status, state, parent }: Record<string, string>) => [agent, status, state, parent]),
      [
        [undefined, "done", "idle", undefined],
        ["implement", "done", "idle", list[0].id],
      ],
    );
    const text = (await place.run(["sessions", "list"])).out;
    assert.match(text, new RegExp(`\\n {2}${list[1].id} .*implement: note it twice`));
    const cost = (await place.run(["sessions", "cost", list[0].id])).out;
    assert.match(cost, new RegExp(list[1].id));
    const diff = (await place.run(["sessions", "diff", list[0].id])).out;
    assert.match(diff, /ran\.txt/);
  });
});
