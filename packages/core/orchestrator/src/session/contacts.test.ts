/** Network decisions are logged as they are made, and change nothing for the model. */
import assert from "node:assert/strict";
import { it } from "node:test";
import type { NetworkDecided } from "@lathe/protocol";
import { type BenchTool, openBench, run, types } from "../bench.test.ts";

const contact: NetworkDecided = {
  host: "a.example",
  port: 443,
  verdict: "refused",
  times: 1,
  why: "no rule",
};

it("decisions become events between the others, while a call runs and after it has ended", async () => {
  let told: ((decided: NetworkDecided) => void) | undefined;
  let watches = 0;
  const load: BenchTool = {
    name: "load",
    effects: () => [{ kind: "execute", target: "load" }],
    run: () => {
      told?.(contact);
      told?.({ ...contact, verdict: "allowed" });
      return { type: "ok", text: "loaded" };
    },
  };
  const script = [{ calls: [{ tool: "load", input: {} }] }, { text: "ok" }];
  const bench = openBench({ script, tools: [load] });
  const network = {
    watch: (listener: (decided: NetworkDecided) => void): (() => void) => {
      told = listener;
      watches++;
      return () => void watches--;
    },
  };
  const session = await run({ ...bench, ports: { ...bench.ports, network } });
  assert.deepEqual(session.lastEnd, { type: "done" });
  const names = types(bench);
  const [started, ended] = [names.indexOf("tool.started"), names.indexOf("tool.completed")];
  assert.deepEqual(names.slice(started + 1, ended), ["network.decided", "network.decided"]);
  assert.deepEqual(
    session.contacts.map(({ verdict }) => verdict),
    ["refused", "allowed"],
  );
  assert.doesNotMatch(JSON.stringify(session.messages), /a\.example/);
  assert.equal(watches, 0);
});
