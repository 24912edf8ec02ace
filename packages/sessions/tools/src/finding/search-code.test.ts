import assert from "node:assert/strict";
import { it } from "node:test";
import {
  isFailure,
  type Outcome,
  type PreparedCall,
  type RankResult,
  type SymbolsResult,
  type ToolContext,
} from "@lathe/protocol";
import { searchCode } from "./search-code.ts";
import { symbols } from "./symbols.ts";

const range = {
  path: "a.ts",
  startLine: 4,
  endLine: 5,
  score: 2,
  why: "defines boil",
  lines: ["boil() {", "}"],
};
const ranked: RankResult = { ranges: [range], leftOut: 2, partial: true };
const named: SymbolsResult = {
  definitions: [{ path: "a.ts", line: 4, name: "boil", text: "boil() {" }],
  references: [{ path: "b.ts", line: 1, name: "boil", text: "boil();" }],
  more: false,
  leftOut: 0,
  skipped: [],
  binary: [],
  unsearched: [],
};

/** A context with a search that records its queries. */
function context(asked: unknown[]): ToolContext {
  const search = {
    rank: async (query: unknown) => {
      asked.push(query);
      return ranked;
    },
    symbols: async () => named,
  };
  const signal = new AbortController().signal;
  const part = {
    search,
    signal,
    workspace: { resolve: async (path: string) => path },
    unreadable: () => ["**/.env"],
  };
  return { ...part, redact: async (text: string) => text } as unknown as ToolContext;
}

async function run(tool: typeof searchCode, input: unknown, asked: unknown[] = []): Promise<Outcome> {
  const call = tool.prepare(input);
  assert.ok(!isFailure(call), "text" in call ? call.text : "");
  return (call as PreparedCall).run(context(asked));
}

it("search_code shows numbered lines and reasons, and leaves out files that rules exclude", async () => {
  const asked: unknown[] = [];
  const outcome = await run(searchCode, { query: "boil", kind: "code", k: 500 }, asked);
  assert.deepEqual(asked, [{ query: "boil", path: ".", k: 30, exclude: ["**/.env"], kind: "code" }]);
  assert.ok(outcome.type === "ok");
  assert.match(outcome.text, /^a\.ts:4-5 \(defines boil\)\n4\tboil\(\) \{\n5\t\}/);
  assert.match(outcome.text, /being built/);
  assert.match(outcome.text, /2 files left out by a rule/);
  const effects = (searchCode.prepare({ query: "x", path: "./src/" }) as PreparedCall).effects;
  assert.deepEqual(effects, [{ kind: "read", target: "src" }]);
});

it("symbols lists definitions before uses, and requires a name or a path", async () => {
  const outcome = await run(symbols, { name: "boil" });
  assert.ok(outcome.type === "ok");
  assert.equal(outcome.text, "Defined:\na.ts:4\tboil() {\nUsed:\nb.ts:1\tboil();");
  const outline = await run(symbols, { path: "a.ts" });
  assert.match(outline.type === "ok" ? outline.text : "", /^4\tboil/);
  const empty = symbols.prepare({});
  assert.ok(isFailure(empty) && /name or a path/.test(empty.text));
});
