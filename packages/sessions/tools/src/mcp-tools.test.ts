/**
 * MCP tools in a session: which ones its prompt lists, which effects policy sees, and how the rest are found.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  isFailure,
  type McpCall,
  type McpServers,
  type McpTool,
  type Outcome,
  outcomeText,
  type PreparedCall,
  type Tool,
  type ToolContext,
} from "@lathe/protocol";
import { createMemoryStore, failedWith } from "@lathe/testkit";
import { fc } from "@lathe/testkit/properties";
import { mcpName } from "./mcp-name.ts";
import { mcpTools, pinnedMcpTools } from "./mcp-tools.ts";
import { cleanOutcome } from "./outcome/clean-outcome.ts";

function tool(name: string, more: Partial<McpTool> = {}): McpTool {
  return { name, description: `Does ${name}`, parameters: { type: "object" }, readOnly: false, ...more };
}

interface Fake extends McpServers {
  readonly calls: readonly McpCall[];
  readonly listed: readonly string[];
}

/** The servers in `asked` were asked for their tools in earlier sessions. */
function serversWith(
  tools: Readonly<Record<string, readonly McpTool[]>>,
  asked: readonly string[],
  outcome: Outcome = { type: "ok", text: "done" },
): Fake {
  const calls: McpCall[] = [];
  const listed: string[] = [];
  const known = new Set(asked);
  return {
    calls,
    listed,
    names: Object.keys(tools),
    known: (server) => (known.has(server) ? tools[server] : undefined),
    list: async (server) => {
      listed.push(server);
      known.add(server);
      return tools[server] ?? [];
    },
    call: async (call) => {
      calls.push(call);
      return outcome;
    },
    close: async () => undefined,
  };
}

function context(): ToolContext {
  const { blobs } = { blobs: createMemoryStore() };
  const redact = async (text: string): Promise<string> => text.replaceAll("sk-secret", "[key]");
  const workspace = { root: "/work" };
  return { blobs, redact, workspace, signal: new AbortController().signal } as unknown as ToolContext;
}

function named(tools: readonly Tool[], name: string): Tool {
  const found = tools.find((one) => one.name === name);
  assert.ok(found, `${name} among ${tools.map((one) => one.name).join()}`);
  return found;
}

function prepared(tools: readonly Tool[], name: string, input: unknown): PreparedCall {
  const call = named(tools, name).prepare(input);
  assert.ok(!isFailure(call), JSON.stringify(call));
  return call;
}

it("offers one tool of several with the same name, whatever servers they come from", async () => {
  const tools = { a: [tool("b__c"), tool("d")], a__b: [tool("c", { description: "The other" })] };
  const servers = serversWith(tools, ["a", "a__b"]);
  const offered = mcpTools(servers);
  assert.deepEqual(
    offered.map(({ name }) => name),
    ["mcp__a__b__c", "mcp__a__d"],
  );
  for (const all of [offered, pinnedMcpTools(offered, servers)]) {
    const prepared = all.find(({ name }) => name === "mcp__a__b__c")?.prepare({});
    assert.ok(prepared && !isFailure(prepared));
    assert.deepEqual(
      prepared.effects.map(({ target }) => target),
      ["a/b__c"],
    );
  }
});

describe("MCP tools", () => {
  const few = [tool("list_issues", { readOnly: true }), tool("create_issue")];
  const many = Array.from({ length: 100 }, (_, i) => tool(`extra_${i}`, { description: "x".repeat(90) }));

  it("are listed in the prompt if they are few and known, otherwise searched", () => {
    const names = (servers: McpServers) => mcpTools(servers).map(({ name }) => name);
    assert.deepEqual(names(serversWith({ hub: few }, ["hub"])), [
      "mcp__hub__list_issues",
      "mcp__hub__create_issue",
    ]);
    assert.deepEqual(names(serversWith({ hub: few }, [])), ["find_tools", "call_tool"]);
    const servers = serversWith({ big: many, hub: few }, ["big", "hub"]);
    assert.deepEqual(names(servers), [
      "mcp__hub__list_issues",
      "mcp__hub__create_issue",
      "find_tools",
      "call_tool",
    ]);
    assert.match(named(mcpTools(servers), "find_tools").description, /come from: big\./);
    assert.deepEqual(servers.listed, []);
  });

  it("never exceed their share of a prompt", () => {
    const size = fc.integer({ min: 0, max: 3_000 });
    fc.assert(
      fc.property(fc.array(fc.array(size, { maxLength: 5 }), { maxLength: 5 }), (lengths) => {
        const servers = Object.fromEntries(
          lengths.map((each, s) => {
            return [`s${s}`, each.map((length, i) => tool(`t${i}`, { description: "x".repeat(length) }))];
          }),
        );
        const tools = mcpTools(serversWith(servers, Object.keys(servers)));
        const specs = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
        assert.ok(JSON.stringify(specs).length < 7_000);
        const isWhole = Object.entries(servers).every(([server, all]) => {
          const there = all.filter((one) => tools.some(({ name }) => name === mcpName(server, one.name)));
          return there.length === 0 || there.length === all.length;
        });
        assert.ok(isWhole);
      }),
    );
  });

  it("appear to policy as the tool of a server, however they are called", () => {
    const servers = serversWith({ hub: few, big: many }, ["hub", "big"]);
    const tools = mcpTools(servers);
    const effects = [
      prepared(tools, "mcp__hub__list_issues", {}),
      prepared(tools, "mcp__hub__create_issue", {}),
      prepared(tools, "call_tool", { name: "mcp__hub__create_issue", arguments: {} }),
      prepared(tools, "call_tool", { name: "mcp__big__extra_7", arguments: '{"a":1}' }),
    ].map((call) => call.effects);
    assert.deepEqual(effects, [
      [{ kind: "mcp", target: "hub/list_issues", traits: ["read-only"] }],
      [{ kind: "mcp", target: "hub/create_issue" }],
      [{ kind: "mcp", target: "hub/create_issue" }],
      [{ kind: "mcp", target: "big/extra_7" }],
    ]);
  });

  it("cannot be called by the name under which a server's start is allowed", () => {
    const tools = mcpTools(serversWith({ hub: [tool("tools/list")] }, ["hub"]));
    failedWith("invalid-arguments", named(tools, mcpName("hub", "tools/list")).prepare({}));
  });

  it("refuse arguments that are not an object, and unknown tools", () => {
    const tools = mcpTools(serversWith({ hub: few, big: many }, ["hub", "big"]));
    failedWith("invalid-arguments", named(tools, "mcp__hub__create_issue").prepare([1]));
    for (const input of [{}, { name: "mcp__hub__nothing", arguments: {} }, null, "x"])
      failedWith("invalid-arguments", named(tools, "call_tool").prepare(input));
  });

  it("are searched without starting a server if all are known; otherwise policy sees the start", async () => {
    const servers = serversWith({ hub: few, big: many }, ["big"]);
    const tools = mcpTools(servers);
    const first = prepared(tools, "find_tools", { query: "issue" });
    assert.deepEqual(first.effects, [{ kind: "mcp", target: "hub/tools/list" }]);
    assert.deepEqual(servers.listed, []);
    await first.run(context());
    assert.deepEqual(servers.listed, ["hub"]);
    const second = prepared(tools, "find_tools", { query: "issue" });
    assert.deepEqual(second.effects, []);
    assert.match(outcomeText(await second.run(context())), /^mcp__hub__/);
    assert.deepEqual(servers.listed, ["hub"]);
  });

  it("are found by words, then called without a change of the prompt", async () => {
    const servers = serversWith({ hub: few }, []);
    const tools = mcpTools(servers);
    const found = await prepared(tools, "find_tools", { query: "create an issue" }).run(context());
    assert.match(
      outcomeText(found),
      /^mcp__hub__create_issue: Does create_issue\narguments: \{"type":"object"\}/,
    );
    const call = prepared(tools, "call_tool", { name: "mcp__hub__create_issue", arguments: { title: "a" } });
    assert.deepEqual(call.taken, { tool: "mcp__hub__create_issue", input: { title: "a" } });
    assert.equal(outcomeText(await call.run(context())), "done");
    assert.deepEqual(servers.calls, [{ server: "hub", tool: "create_issue", input: { title: "a" } }]);
    const none = await prepared(tools, "find_tools", { query: "zebra" }).run(context());
    assert.match(
      outcomeText(none),
      /Nothing matches\. There are 2: mcp__hub__list_issues, mcp__hub__create_issue/,
    );
  });

  it("answer without secrets, and at a bounded length", async () => {
    const outcome: Outcome = { type: "ok", text: `sk-secret ${"x".repeat(100_000)}` };
    const tools = mcpTools(serversWith({ hub: few }, ["hub"], outcome));
    const call = prepared(tools, "mcp__hub__create_issue", {});
    const said = outcomeText(await cleanOutcome(await call.run(context()), context(), call));
    assert.match(said, /^\[key\] x+/);
    assert.ok(said.length < 20_000 && said.includes("left out"));
  });

  it("stay the tools that a session started with", () => {
    const before = mcpTools(serversWith({ hub: few, big: many }, ["hub", "big"]));
    const changed = serversWith({ hub: [...few, tool("new_one")], big: few }, ["hub", "big"]);
    const after = pinnedMcpTools(before, changed).map(({ name }) => name);
    assert.deepEqual(
      after,
      before.map(({ name }) => name),
    );
    assert.deepEqual(pinnedMcpTools([], changed), []);
  });

  it("have unique names that every API accepts", () => {
    assert.equal(mcpName("hub", "list_issues"), "mcp__hub__list_issues");
    const word = fc.string({ minLength: 1, maxLength: 80, unit: "grapheme" });
    fc.assert(
      fc.property(word, word, word, (server, one, two) => {
        const name = mcpName(server, one);
        assert.match(name, /^[\w-]{1,64}$/);
        if (one !== two) assert.notEqual(name, mcpName(server, two));
      }),
    );
  });
});
