/** Which agents there are: the built-in ones, and those that people wrote down. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { makeBench } from "../session-bench.test.ts";
import { readAgents } from "./read-agents.ts";

it("built-in ones are not replaced by a project, only by the user", (test) => {
  const bench = makeBench("agents");
  test.after(() => bench.remove());
  const text = (name: string): string => `---\nname: ${name}\ndescription: d\n---\nDo all.\n`;
  bench.put(".agents/agents/explore.md", text("explore"));
  bench.put(".claude/agents/other.md", text("review"));
  const readable = () => {
    const { agents, remarks } = readAgents({ cwd: bench.cwd, env: { HOME: join(bench.root, "home") } });
    return { reads: agents.flatMap(({ name, onlyReads }) => (onlyReads ? [name] : [])), remarks };
  };
  assert.deepEqual(readable().reads, ["explore", "review"]);
  assert.match(
    readable().remarks.join("\n"),
    /explore\.md was left out: explore is built in[\s\S]*other\.md/,
  );
  const own = join(bench.root, "home/.config/lathe/agents");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "explore.md"), text("explore"));
  assert.deepEqual(readable().reads, ["review"]);
});
