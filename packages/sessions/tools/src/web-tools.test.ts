/** The facts that policy and the model get about a page. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { failure, isFailure, outcomeText, type ToolContext, type Web } from "@lathe/protocol";
import { createMemoryStore, failedWith } from "@lathe/testkit";
import { cleanOutcome } from "./outcome/clean-outcome.ts";
import { createWebTools } from "./web-tools.ts";

const context = {
  blobs: createMemoryStore(),
  redact: async (text: string) => text.replaceAll("sk-secret", "[key]"),
  signal: new AbortController().signal,
} as unknown as ToolContext;

const pages: Readonly<Record<string, Awaited<ReturnType<Web["fetch"]>>>> = {
  "https://a.example/": { url: "https://a.example/", type: "text/html", text: "sk-secret here" },
  "https://a.example/old": { url: "https://a.example/new", type: "text/html", text: "moved" },
  "https://a.example/out": { to: "https://b.example/" },
  "https://a.example/empty": { url: "https://a.example/empty", type: "text/html", text: " \n" },
  "https://a.example/stop": failure("cancelled", "stopped"),
};

const web: Web = {
  barred: (url) => (url.includes("localhost") ? "localhost is not public" : undefined),
  fetch: async (url) => pages[url] ?? failure("unreachable", "nobody answers"),
  search: {
    host: "search.example",
    find: async (query, limit) =>
      query === "none" ? [] : [{ title: `${query} ${limit}`, url: "https://a.example/", text: "about" }],
  },
};

const [fetchTool, searchTool] = createWebTools(web);

async function run(tool: typeof fetchTool, input: object): Promise<string> {
  const call = tool?.prepare(input);
  assert.ok(call && !isFailure(call), JSON.stringify(call));
  return outcomeText(await cleanOutcome(await call.run(context), context, call));
}

it("reports the host to policy, with the port if it is unusual", () => {
  const targets = ["https://A.example/x?y", "http://a.example:8080/", "https://[::1]/"].map((url) => {
    const call = fetchTool?.prepare({ url });
    assert.ok(call && !isFailure(call));
    return call.effects;
  });
  assert.deepEqual(
    targets.flat().map(({ kind, target, traits }) => [kind, target, traits]),
    [
      ["network", "a.example", ["named"]],
      ["network", "a.example:8080", ["named"]],
      ["network", "[::1]", ["named"]],
    ],
  );
  for (const url of ["nonsense", "", undefined, "http://localhost:3000/"])
    failedWith("invalid-arguments", fetchTool?.prepare({ url }) ?? failure("bug", "no tool"));
});

it("shows a page, its address, and redirects to other hosts", async () => {
  assert.equal(await run(fetchTool, { url: "https://a.example/" }), "[key] here");
  assert.equal(await run(fetchTool, { url: "https://a.example/old" }), "[https://a.example/new]\n\nmoved");
  assert.match(
    await run(fetchTool, { url: "https://a.example/out" }),
    /fetch https:\/\/b\.example\/ if you want it/,
  );
  assert.match(await run(fetchTool, { url: "https://a.example/empty" }), /no text/);
  assert.match(await run(fetchTool, { url: "https://a.example/stop" }), /^Interrupted/);
  assert.match(await run(fetchTool, { url: "https://a.example/gone" }), /^Failed \(unreachable\)/);
});

it("shows the results of a search, within its limits", async () => {
  assert.equal(await run(searchTool, { query: "x", limit: 500 }), "x 20\nhttps://a.example/\nabout");
  assert.match(await run(searchTool, { query: "none" }), /Nothing was found/);
  assert.equal(createWebTools({ fetch: web.fetch, barred: web.barred }).length, 1);
});
