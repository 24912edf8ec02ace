/** The tools that subagents may have and call, as their definitions name them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isFailure, type McpServers, type Tool } from "@lathe/protocol";
import { builtinTools } from "@lathe/tools";
import { mcpTools } from "@lathe/tools/mcp";
import type { Fields } from "../files/fields.ts";
import { agentTools } from "./agent-tools.ts";
import { restrictTools } from "./restrict-tools.ts";

const about = "x".repeat(90);
const many = Array.from({ length: 100 }, (_, at) => ({
  name: `tool_${at}`,
  description: about,
  parameters: { type: "object" },
  readOnly: false,
}));
const servers: McpServers = {
  names: ["many"],
  known: () => many,
  list: async () => many,
  call: async () => ({ type: "ok", text: "done" }),
  close: async () => undefined,
};
const offered: readonly Tool[] = [...builtinTools, ...mcpTools(servers)];

function restrictedBy(fields: Fields): readonly Tool[] {
  const tools = agentTools(fields, ["deploy"]);
  assert.ok(typeof tools !== "string", String(tools));
  return restrictTools(offered, tools);
}

function namesOf(fields: Fields): readonly string[] {
  return restrictedBy(fields).map(({ name }) => name);
}

/** The numbers of the server's first three tools that it may call. */
function callable(fields: Fields): readonly number[] {
  const tool = restrictedBy(fields).find(({ name }) => name === "call_tool");
  return [0, 1, 2].filter((at) => {
    const call = tool?.prepare({ name: `mcp__many__tool_${at}`, arguments: {} });
    return call && !isFailure(call);
  });
}

describe("tools of subagents", () => {
  it("an agent without commands cannot run one through another tool; without writing it cannot delete", () => {
    const all = namesOf({});
    const without = (taken: string): readonly string[] => {
      const left = namesOf({ disallowedTools: taken });
      return all.filter((name) => !left.includes(name)).toSorted();
    };
    assert.deepEqual(without("Bash"), ["process", "shell", "try_mutations"]);
    assert.deepEqual(without("shell"), ["shell", "try_mutations"]);
    const changing = ["apply_patch", "delete", "edit", "move", "write"];
    for (const name of ["Edit", "Write", "write", "apply_patch"]) assert.deepEqual(without(name), changing);
    assert.deepEqual(without("Bash(rm *)"), ["process", "shell", "try_mutations"]);
    assert.deepEqual(namesOf({ disallowedTools: "*" }), []);
  });

  it("server tools are limited to the named ones even if they are searched for", () => {
    assert.deepEqual(callable({}), [0, 1, 2]);
    assert.deepEqual(callable({ disallowedTools: "mcp__many__tool_1" }), [0, 2]);
    assert.deepEqual(callable({ disallowedTools: "mcp__many__*" }), []);
    assert.deepEqual(callable({ disallowedTools: "mcp__many" }), []);
    assert.deepEqual(callable({ tools: "Read, mcp__many__tool_1" }), [1]);
    assert.deepEqual(callable({ tools: "mcp__many", disallowedTools: "mcp__many__tool_0" }), [1, 2]);
    assert.deepEqual(callable({ tools: "call_tool" }), [0, 1, 2]);
    assert.deepEqual(namesOf({ tools: "Read, mcp__many__tool_1" }), ["read", "find_tools", "call_tool"]);
    assert.deepEqual(namesOf({ tools: "mcp__many__tool_1", disallowedTools: "call_tool" }), ["find_tools"]);
  });

  it("a subagent below another one has no more tools than that one", () => {
    const outer = restrictedBy({ disallowedTools: "mcp__many__tool_1" });
    const inner = agentTools({ tools: ["mcp__many__tool_0", "mcp__many__tool_1"] }, []);
    assert.ok(typeof inner !== "string");
    const tool = restrictTools(outer, inner).find(({ name }) => name === "call_tool");
    const call = tool?.prepare({ name: "mcp__many__tool_1", arguments: {} });
    assert.ok(call && isFailure(call));
  });

  it("other agents' tool names are recognized, and unknown names are reported", () => {
    const read = (fields: Fields): unknown => agentTools(fields, ["deploy"]);
    assert.deepEqual(read({ tools: "Read, Grep, Glob, WebFetch, WebSearch" }), {
      tools: ["read", "grep", "find_files", "web_fetch", "web_search"],
      remarks: [],
    });
    assert.deepEqual(read({ tools: ["Reed", "deploy", "Bash(git a, b)"] }), {
      tools: ["deploy"],
      remarks: ["there is no tool Reed", "it does not get Bash(git a, b): no part of a tool can be given"],
    });
    assert.deepEqual(read({ disallowedTools: "Bsh" }), { remarks: ["there is no tool Bsh to take away"] });
    assert.equal(read({ tools: "Reed" }), "none of its tools is there; there is no tool Reed");
    assert.match(String(read({ tools: "Bash(git *), Bash(gh *)" })), /^none of its tools is there; it does/);
    assert.deepEqual(read({ tools: "*" }), { remarks: [] });
  });

  it("tools that are switched on and off are read correctly", () => {
    const read = (tools: Fields): unknown => agentTools({ tools }, []);
    assert.deepEqual(read({ bash: "true", webfetch: "true" }), {
      tools: ["shell", "process", "web_fetch"],
      remarks: [],
    });
    assert.deepEqual(read({ bash: "false" }), {
      without: ["shell", "try_mutations", "process"],
      remarks: [],
    });
    assert.equal(read({ bash: "maybe" }), "its tools are neither names nor true and false");
  });
});
