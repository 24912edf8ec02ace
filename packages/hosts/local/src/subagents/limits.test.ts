/** A subagent cannot reach what its definition takes away, through any tool. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { fold, isFailure } from "@lathe/protocol";
import { startWireServer } from "@lathe/testkit";
import { openState } from "../history/state.ts";
import { startSession } from "../local-sessions.ts";
import { call, does, makeBench, resultsOf, say } from "../session-bench.test.ts";

it("a subagent that may neither run commands nor edit cannot delete, move or try mutations", async (test) => {
  const bench = makeBench("limits");
  bench.put("keep.txt", "k\n");
  const fields = "name: looker\ndescription: Looks\ndisallowedTools: Bash, Edit, Write";
  bench.put(".claude/agents/looker.md", `---\n${fields}\n---\nLook.\n`);
  const server = await startWireServer(({ request }) => {
    const first = request.messages[0]?.parts[0];
    const isChild = first?.type === "text" && first.text === "look";
    const isBegun = request.messages.some(({ role }) => role === "assistant");
    if (isBegun) return say("done");
    if (!isChild) return does(call("task", { agent: "looker", prompt: "look" }));
    return does(
      call("delete", { path: "keep.txt" }),
      call("move", { from: "keep.txt", to: "gone.txt" }),
      call("try_mutations", { test: "rm keep.txt" }),
      call("apply_patch", { patch: "*** Begin Patch\n*** Delete File: keep.txt\n*** End Patch" }),
    );
  });
  test.after(() => server.close());
  const session = await startSession(bench.options(server.url), { text: "go" });
  assert.ok(!isFailure(session));
  const ended = await session.run();
  await session.close();
  assert.ok(!isFailure(ended));
  const child = await openState(bench.env).store.read(ended.children[0] ?? "");
  assert.ok(!isFailure(child));
  const results = resultsOf(fold(child));
  assert.equal(results.length, 4);
  for (const result of results) assert.match(result, /there is no tool/);
  assert.ok(existsSync(join(bench.cwd, "keep.txt")));
  bench.remove();
});
