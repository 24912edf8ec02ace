/** How hooks written for Claude Code see a call. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { hookedTools } from "./hooked-tools.ts";

it("shows every file that a call changes, and every command it runs", () => {
  const effects = [
    { kind: "write", target: "a.txt" },
    { kind: "delete", target: "b.txt" },
  ] as const;
  const seen = hookedTools({ id: "1", tool: "apply_patch", input: '{"patch":"p"}', effects }, "/w");
  assert.deepEqual(
    seen.map(({ tool_name, tool_input }) => [tool_name, tool_input.file_path]),
    [
      ["Edit", "/w/a.txt"],
      ["Edit", "/w/b.txt"],
    ],
  );
  const typed = {
    id: "1",
    tool: "process",
    input: '{"action":"write","id":"p1","text":"rm x"}',
    effects: [],
  };
  assert.deepEqual(hookedTools(typed, "/w"), [{ tool_name: "Bash", tool_input: { command: "rm x" } }]);
  const tried = { id: "1", tool: "try_mutations", input: '{"test":"rm x"}', effects: [] };
  assert.deepEqual(hookedTools(tried, "/w"), [{ tool_name: "Bash", tool_input: { command: "rm x" } }]);
});

it("shows what searches and looks at the web under the names that guards know", () => {
  const seen = (tool: string, input: object, effects: Parameters<typeof hookedTools>[0]["effects"] = []) =>
    hookedTools({ id: "1", tool, input: JSON.stringify(input), effects }, "/w").map(
      ({ tool_name, tool_input }) => [tool_name, tool_input],
    );
  const read = [{ kind: "read", target: "src" }] as const;
  assert.deepEqual(seen("web_fetch", { url: "https://a.b" }), [["WebFetch", { url: "https://a.b" }]]);
  assert.deepEqual(seen("web_search", { query: "q" }), [["WebSearch", { query: "q" }]]);
  assert.deepEqual(seen("search_code", { query: "q" }, read), [["Grep", { pattern: "q", path: "/w" }]]);
  assert.deepEqual(seen("symbols", { name: "f", path: "src" }, read), [
    ["Grep", { pattern: "f", path: "/w/src" }],
  ]);
  assert.deepEqual(seen("find_files", { glob: "*", path: "src" }, read), [
    ["Glob", { pattern: "*", path: "/w/src" }],
  ]);
  assert.deepEqual(seen("list", {}, read), [["LS", { path: "/w" }]]);
  const moved = [
    { kind: "read", target: "a" },
    { kind: "delete", target: "a" },
    { kind: "write", target: "b" },
  ] as const;
  const files = seen("move", { path: "a", to: "b" }, moved).map(([name, input]) => [
    name,
    Object(input).file_path,
  ]);
  assert.deepEqual(files, [
    ["Edit", "/w/a"],
    ["Edit", "/w/b"],
  ]);
  const ran = [{ kind: "execute", target: "npx tsc --noEmit" }] as const;
  assert.deepEqual(seen("diagnostics", {}, ran), [["Bash", { command: "npx tsc --noEmit" }]]);
});
