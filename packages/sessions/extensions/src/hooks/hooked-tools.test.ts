/** How hooks written for Claude Code see a call. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { type Diagnostics, type Effect, isFailure, type Tool, type Web } from "@lathe/protocol";
import { builtinTools } from "@lathe/tools";
import { createDiagnosticsTool } from "@lathe/tools/diagnostics";
import { createWebTools } from "@lathe/tools/web";
import { hookedTools } from "./hooked-tools.ts";

const web = { host: "search.example", barred: () => undefined, search: async () => [] } as unknown as Web;
const diagnostics = { plan: () => ({ checks: [] }) } as unknown as Diagnostics;
const tools: readonly Tool[] = [...builtinTools, ...createWebTools(web), createDiagnosticsTool(diagnostics)];

type Seen = readonly (readonly [name: string, input: Readonly<Record<string, unknown>>])[];

function seen(tool: string, input: object, effects: readonly Effect[] = []): Seen {
  const prepared = tools.find(({ name }) => name === tool)?.prepare(input) ?? assert.fail(tool);
  if (isFailure(prepared)) return assert.fail(prepared.text);
  const { counterpart } = prepared;
  const call = { id: "1", tool, input: JSON.stringify(input), effects, counterpart };
  return hookedTools(call, "/w").map(({ tool_name, tool_input }) => [tool_name, tool_input]);
}

const pathsOf = (calls: Seen): readonly unknown[] => calls.map(([name, input]) => [name, input.file_path]);

it("shows every file that a call changes, and every command it runs", () => {
  const effects = [
    { kind: "write", target: "a.txt" },
    { kind: "delete", target: "b.txt" },
  ] as const;
  const patch = "*** Begin Patch\n*** Delete File: b.txt\n*** End Patch";
  assert.deepEqual(pathsOf(seen("apply_patch", { patch }, effects)), [
    ["Edit", "/w/a.txt"],
    ["Edit", "/w/b.txt"],
  ]);
  const written = { action: "write", id: "p1", text: "rm x" };
  assert.deepEqual(seen("process", written), [["Bash", { command: "rm x" }]]);
  assert.deepEqual(seen("try_mutations", { test: "rm x" }), [["Bash", { command: "rm x" }]]);
  const edits = [{ old: "a", new: "b" }];
  assert.deepEqual(seen("edit", { path: "a.txt", edits }), [
    ["Edit", { file_path: "/w/a.txt", old_string: "a", new_string: "b", edits }],
  ]);
});

it("shows search and web tools under the names that guards know", () => {
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
  assert.deepEqual(pathsOf(seen("move", { path: "a", to: "b" }, moved)), [
    ["Edit", "/w/a"],
    ["Edit", "/w/b"],
  ]);
  const ran = [{ kind: "execute", target: "npx tsc --noEmit" }] as const;
  assert.deepEqual(seen("diagnostics", {}, ran), [["Bash", { command: "npx tsc --noEmit" }]]);
});
