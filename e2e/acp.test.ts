/** `lathe acp` as an editor sees it: a real process, the official client library, the official schema. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type ContentBlock,
  type McpServer,
  methods,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { AssistantPart } from "@lathe/protocol";
import { startWireServer, type WireScript, type WireServer } from "@lathe/testkit";
import { type Editor, type EditorOptions, openEditor } from "./acp-editor.ts";
import { makePlace, type Place, wireEnv } from "./lathe.ts";

function say(text: string): AssistantPart {
  return { type: "text", text };
}

function call(id: string, tool: string, input: object): AssistantPart {
  return { type: "tool-call", id, tool, input: JSON.stringify(input) };
}

function prompt(text: string): ContentBlock[] {
  return [{ type: "text", text }];
}

const sampleServer = fileURLToPath(new URL("../packages/mcp/src/fixtures/server.mjs", import.meta.url));

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("lathe acp", () => {
  let place: Place;
  let server: WireServer;
  let editors: Editor[];
  beforeEach(() => {
    place = makePlace();
    editors = [];
  });
  afterEach(async () => {
    for (const editor of editors) {
      assert.equal(await editor.leave(), 0);
      assert.deepEqual(editor.wrong, []);
    }
    await server.close();
    assert.deepEqual(place.leftovers(), []);
    place.remove();
  });

  const serve = async (script: WireScript): Promise<void> => {
    server = await startWireServer(script);
  };
  const open = async (
    options?: EditorOptions,
    args: readonly string[] = [],
    more: Readonly<Record<string, string>> = {},
  ): Promise<Editor> => {
    const env = { ...wireEnv(server.url), ...more };
    const running = place.start(["acp", "--no-sandbox", ...args], { env, input: null });
    const editor = await openEditor(running, options);
    editors.push(editor);
    return editor;
  };
  const begin = async (editor: Editor, mcpServers: McpServer[] = []): Promise<string> => {
    const { agent } = editor;
    const begun = await agent.request(methods.agent.session.new, { cwd: place.workspace, mcpServers });
    return begun.sessionId;
  };
  const ask = (editor: Editor, sessionId: string, blocks: ContentBlock[]) =>
    editor.agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks });
  const kinds = (editor: Editor) => editor.updates.map(({ sessionUpdate }) => sessionUpdate);
  const callsOf = (updates: readonly SessionUpdate[]) =>
    updates.flatMap((one) =>
      one.sessionUpdate === "tool_call" || one.sessionUpdate === "tool_call_update" ? [one] : [],
    );
  const saidIn = (updates: readonly SessionUpdate[], kind: SessionUpdate["sessionUpdate"]) =>
    updates
      .flatMap((one) => {
        const isChunk =
          one.sessionUpdate === "user_message_chunk" || one.sessionUpdate === "agent_message_chunk";
        return isChunk && one.sessionUpdate === kind && one.content.type === "text" ? [one.content.text] : [];
      })
      .join("");

  const work = [
    {
      parts: [
        say("I write it."),
        call("t1", "todo", { todos: [{ text: "write it", state: "doing" }] }),
        call("c1", "write", { path: "a.txt", content: "hello\n" }),
      ],
    },
    { parts: [call("c2", "edit", { path: "a.txt", edits: [{ old: "hello", new: "goodbye" }] })] },
    { parts: [say("It is written.")] },
  ];

  it("streams an answer, calls with diffs and places, and the plan", async () => {
    await serve(work);
    const editor = await open();
    const id = await begin(editor);
    assert.deepEqual(await ask(editor, id, prompt("write a.txt")), { stopReason: "end_turn" });
    assert.equal(readFileSync(join(place.workspace, "a.txt"), "utf8"), "goodbye\n");
    assert.equal(saidIn(editor.updates, "agent_message_chunk"), "I write it.It is written.");
    assert.ok(kinds(editor).includes("plan") && kinds(editor).includes("session_info_update"));
    const path = join(place.workspace, "a.txt");
    const ends = callsOf(editor.updates).filter(({ status }) => status === "completed");
    assert.deepEqual(
      ends.map(({ toolCallId, content, locations }) => [toolCallId, content, locations]),
      [
        ["c1", [{ type: "diff", path, oldText: null, newText: "hello\n" }], [{ path }]],
        ["c2", [{ type: "diff", path, oldText: "hello\n", newText: "goodbye\n" }], [{ path }]],
      ],
    );
    const [begun] = callsOf(editor.updates);
    assert.deepEqual([begun?.kind, begun?.title, begun?.locations], ["edit", "write: a.txt", [{ path }]]);
  });

  it("asks for permission with the change it is about, and takes each answer", async () => {
    const tries = ["b1", "b2", "b3"].map((id) => ({
      parts: [call(id, "write", { path: `${id}.txt`, content: id })],
    }));
    await serve([...tries, { parts: [say("done")] }]);
    const answers = ["allow", "allow-for-this-session", "deny"];
    const onPermission = ({ options }: RequestPermissionRequest) => {
      const optionId = answers.shift() ?? "";
      assert.ok(
        options.some((option) => option.optionId === optionId),
        JSON.stringify(options),
      );
      return { outcome: { outcome: "selected" as const, optionId } };
    };
    const editor = await open({ onPermission }, ["--permission-mode", "ask"]);
    await ask(editor, await begin(editor), prompt("go"));
    const made = ["b1", "b2", "b3"].map((name) => existsSync(join(place.workspace, `${name}.txt`)));
    assert.deepEqual(made, [true, true, false]);
    const [first] = editor.permissions;
    assert.deepEqual(
      first?.options.map(({ kind }) => kind),
      [...["allow_once", "allow_always", "allow_always", "reject_once"]],
    );
    const path = join(place.workspace, "b1.txt");
    assert.deepEqual(first?.toolCall.content?.[0], { type: "diff", path, newText: "b1" });
    assert.match(JSON.stringify(first?.options), /For this session, allow: write b1\.txt/);
  });

  it("ends the turn when the person cancels what is asked", async () => {
    await serve([
      { parts: [call("c1", "write", { path: "no.txt", content: "x" })] },
      { parts: [say("more")] },
    ]);
    const editor = await open({}, ["--permission-mode", "ask"]);
    assert.deepEqual(await ask(editor, await begin(editor), prompt("go")), { stopReason: "cancelled" });
    assert.equal(existsSync(join(place.workspace, "no.txt")), false);
    assert.equal(server.records.length, 1);
  });

  it("stops a command on cancel, and goes on with the next prompt", async () => {
    const long = { parts: [call("c1", "shell", { command: "echo begun; sleep 1000", timeout_s: 1000 })] };
    await serve([long, { parts: [say("here again")] }]);
    const editor = await open();
    const id = await begin(editor);
    const asked = ask(editor, id, prompt("wait"));
    await editor.told((one) => JSON.stringify(one).includes("begun\\n"));
    await editor.agent.notify(methods.agent.session.cancel, { sessionId: id });
    assert.deepEqual(await asked, { stopReason: "cancelled" });
    assert.deepEqual(await ask(editor, id, prompt("and now?")), { stopReason: "end_turn" });
    assert.equal(saidIn(editor.updates, "agent_message_chunk"), "here again");
  });

  it("loads a session in another process, with all that was said, and goes on", async () => {
    await serve([...work, { parts: [say("Still here.")] }]);
    const first = await open();
    const id = await begin(first);
    await ask(first, id, prompt("write a.txt"));
    await first.leave();
    const editor = await open();
    const params = { cwd: place.workspace, mcpServers: [], sessionId: id };
    await editor.agent.request(methods.agent.session.load, params);
    assert.equal(saidIn(editor.updates, "user_message_chunk"), "write a.txt");
    assert.equal(saidIn(editor.updates, "agent_message_chunk"), "I write it.It is written.");
    const ended = callsOf(editor.updates).filter(({ status }) => status === "completed");
    assert.deepEqual(
      ended.map(({ toolCallId }) => toolCallId),
      ["c1", "c2"],
    );
    assert.deepEqual(await ask(editor, id, prompt("and?")), { stopReason: "end_turn" });
    const listed = await editor.agent.request(methods.agent.session.list, { cwd: place.workspace });
    assert.deepEqual(
      listed.sessions.map(({ sessionId, title }) => [sessionId, title]),
      [[id, "write a.txt"]],
    );
  });

  it("starts the editor's MCP servers when they are needed, and asks before a call", async () => {
    const find = call("c1", "find_tools", { query: "echo" });
    const use = call("c2", "call_tool", {
      name: "mcp__its_own__echo",
      arguments: { said: "from the editor" },
    });
    await serve([{ parts: [find] }, { parts: [use] }, { parts: [say("done")] }]);
    const onPermission = () => ({ outcome: { outcome: "selected" as const, optionId: "allow" } });
    const editor = await open({ onPermission });
    const begun = await editor.agent.request(methods.agent.session.new, {
      cwd: place.workspace,
      mcpServers: [{ name: "its_own", command: process.execPath, args: [sampleServer], env: [] }],
    });
    await ask(editor, begun.sessionId, prompt("go"));
    assert.match(JSON.stringify(server.records[2]?.request.messages.at(-1)), /from the editor/);
    assert.deepEqual(
      editor.permissions.map(({ toolCall }) => toolCall.toolCallId),
      ["c1", "c2"],
    );
    await editor.agent.request(methods.agent.session.close, { sessionId: begun.sessionId });
  });

  it("holds to the mode that is set", async () => {
    const tries = ["one", "two"].map((name) => ({
      parts: [call(name, "write", { path: name, content: name })],
    }));
    const [one, two] = tries;
    await serve([one ?? {}, { parts: [say("refused")] }, two ?? {}, { parts: [say("written")] }]);
    const editor = await open();
    const { agent } = editor;
    const begun = await agent.request(methods.agent.session.new, { cwd: place.workspace, mcpServers: [] });
    assert.deepEqual(
      begun.modes?.availableModes.map(({ id }) => id),
      ["ask", "auto", "plan", "read-only"],
    );
    const { sessionId } = begun;
    await agent.request(methods.agent.session.setMode, { sessionId, modeId: "plan" });
    await ask(editor, sessionId, prompt("write one"));
    await agent.request(methods.agent.session.setMode, { sessionId, modeId: "auto" });
    await ask(editor, sessionId, prompt("write two"));
    assert.deepEqual(
      ["one", "two"].map((name) => existsSync(join(place.workspace, name))),
      [false, true],
    );
    const failed = callsOf(editor.updates).filter(({ status }) => status === "failed");
    assert.deepEqual(
      failed.map(({ toolCallId }) => toolCallId),
      ["one"],
    );
    const wrong = agent.request(methods.agent.session.setMode, { sessionId, modeId: "yolo" });
    await assert.rejects(wrong, /there is no mode yolo/);
  });

  it("takes images, links and texts of the editor", async () => {
    await serve([{ parts: [say("I see.")] }]);
    const editor = await open();
    await ask(editor, await begin(editor), [
      { type: "text", text: "what is this?" },
      { type: "image", data: png, mimeType: "image/png" },
      { type: "resource_link", name: "a b.ts", uri: "file:///src/a%20b.ts" },
      { type: "resource", resource: { uri: "file:///src/c.ts", text: "unsaved" } },
    ]);
    const said = JSON.stringify(server.records[0]?.request.messages);
    for (const part of ["what is this?", png, "@/src/a b.ts", "# /src/c.ts\\n\\nunsaved"])
      assert.ok(said.includes(part), part);
  });

  it("shows a command in the editor's terminal where it has that", async () => {
    await serve([
      { parts: [call("c1", "shell", { command: "echo out; exit 3" })] },
      { parts: [say("done")] },
    ]);
    const editor = await open({ capabilities: { terminal: true, _meta: { terminal_output: true } } });
    await ask(editor, await begin(editor), prompt("run it"));
    const metas = callsOf(editor.updates).flatMap(({ _meta }) => (_meta ? [_meta] : []));
    assert.deepEqual(
      metas.map((meta) => Object.keys(meta)[0]),
      [...["terminal_info", "terminal_output", "terminal_exit"]],
    );
    assert.deepEqual(metas[2]?.terminal_exit, { terminal_id: "c1", exit_code: 3, signal: null });
    assert.equal(callsOf(editor.updates).at(-1)?.status, "failed");
  });

  it("puts the agent's question into a form, or among choices", async () => {
    const question = call("q1", "ask_user", { question: "Which?", options: ["red", "blue"] });
    await serve((_, i) => ({ parts: i % 2 === 0 ? [question] : [say("thanks")] }));
    const answers = (i: number) => JSON.stringify(server.records[i]?.request.messages.at(-1));
    const withForms = await open({
      capabilities: { elicitation: { form: {} } },
      onForm: () => ({ action: "accept", content: { answer: "blue" } }),
    });
    await ask(withForms, await begin(withForms), prompt("ask me"));
    assert.match(answers(1), /blue/);
    const onPermission = () => ({ outcome: { outcome: "selected" as const, optionId: "0" } });
    const without = await open({ onPermission });
    await ask(without, await begin(without), prompt("ask me"));
    assert.match(answers(3), /red/);
  });

  describe("commands behind a slash", () => {
    const offered = (updates: readonly SessionUpdate[]) =>
      updates.flatMap((one) =>
        one.sessionUpdate === "available_commands_update" ? [one.availableCommands] : [],
      );
    const isOffer = (one: SessionUpdate): boolean => one.sessionUpdate === "available_commands_update";

    it("are told with what they take: ours, the project's and the user's, and again when they change", async () => {
      place.put(".claude/commands/fix.md", "---\ndescription: Fixes\nargument-hint: ISSUE\n---\nFix $1.\n");
      place.put(".agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Makes PDFs\n---\nUse it.\n");
      place.put(".claude/commands/plan.md", "not this one\n");
      await serve([{ parts: [say("ok")] }]);
      const editor = await open();
      const id = await begin(editor);
      await editor.told(isOffer);
      const [first = []] = offered(editor.updates);
      const names = first.map(({ name }) => name);
      for (const name of ["plan", "compact", "cost", "context", "model", "fix", "pdf"])
        assert.equal(names.filter((one) => one === name).length, 1, name);
      assert.deepEqual(
        first.find(({ name }) => name === "fix"),
        { name: "fix", description: "Fixes", input: { hint: "ISSUE" } },
      );
      place.put(".claude/commands/more.md", "More.\n");
      await ask(editor, id, prompt("hi"));
      const [, second = []] = offered(editor.updates);
      assert.deepEqual(
        second.map(({ name }) => name).filter((name) => !names.includes(name)),
        ["more"],
      );
    });

    it("do what they do in the terminal", async () => {
      place.put(".claude/commands/fix.md", "Fix issue $1.\n");
      await serve((_, i) => ({ parts: [say(`answer ${i + 1}`)] }));
      const editor = await open();
      const id = await begin(editor);
      const said = async (text: string): Promise<string> => {
        const from = editor.updates.length;
        assert.deepEqual(await ask(editor, id, prompt(text)), { stopReason: "end_turn" });
        return saidIn(editor.updates.slice(from), "agent_message_chunk");
      };
      assert.match(await said("/cost"), /no session yet/);
      assert.equal(await said("/fix 12 now"), "answer 1");
      assert.match(JSON.stringify(server.records[0]?.request.messages), /Fix issue 12\./);
      assert.match(await said("/cost"), /^```\n[\s\S]*\b1\b[\s\S]*```\n\n$/);
      assert.match(await said("/context"), /system prompt/);
      assert.match(await said("/fx"), /there is no \/fx; did you mean \/fix\?/);
      assert.match(await said("/model"), /Which model\?/);
      assert.match(await said("/compact"), /made shorter/);
      assert.match(await said("/name a better one"), /called a better one/);
      await editor.told((one) => one.sessionUpdate === "session_info_update" && one.title === "a better one");
      assert.match(await said("/plan look around"), /Permissions: plan\.[\s\S]*answer 2/);
      await editor.told((one) => one.sessionUpdate === "current_mode_update" && one.currentModeId === "plan");
      assert.match(await said("/plan off"), /Permissions: auto\./);
      assert.equal(await said("/usr/bin/env is what?"), "answer 3");
      assert.equal(server.records.length, 3);
    });

    it("show servers as they are written, never the user's variables that they are given", async () => {
      await serve([]);
      const secret = { HOST_KEY: "sk-of-the-user" };
      const words = ["--token", "$" + "{HOST_KEY}"];
      assert.equal((await place.run(["mcp", "add", "own", "--", "false", ...words])).code, 0);
      const listed = await place.run(["mcp", "list"], { env: secret });
      const editor = await open({}, [], secret);
      const id = await begin(editor, [{ name: "theirs", command: "true", args: ["x"], env: [] }]);
      await ask(editor, id, prompt("/mcp"));
      const said = saidIn(editor.updates, "agent_message_chunk");
      assert.match(said, /theirs {2}true x\n {2}own {5}false --token \$\{HOST_KEY\}\n/);
      assert.match(listed.out, /own {2}false --token \$\{HOST_KEY\}\n/);
      assert.ok(!`${said}${listed.out}${listed.err}`.includes(secret.HOST_KEY));
    });

    it("are about a session that was loaded, too", async () => {
      await serve(() => ({ parts: [say("fine")] }));
      const first = await open();
      const id = await begin(first);
      await ask(first, id, prompt("hello there"));
      await first.leave();
      const editor = await open();
      const params = { cwd: place.workspace, mcpServers: [], sessionId: id };
      await editor.agent.request(methods.agent.session.resume, params);
      await editor.told(isOffer);
      await ask(editor, id, prompt("/context"));
      assert.match(saidIn(editor.updates, "agent_message_chunk"), /hello there/);
      assert.equal(server.records.length, 1);
    });
  });

  describe("hooks and servers of the project that nobody has looked at", () => {
    const hook = (command: string) =>
      place.put(
        ".claude/settings.json",
        JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command }] }] } }),
      );
    const answering = (...answers: string[]): EditorOptions => ({
      onPermission: () => ({ outcome: { outcome: "selected", optionId: answers.shift() ?? "none left" } }),
    });
    const textOf = ({ permissions }: Editor): string => JSON.stringify(permissions);

    it("are asked about with the first prompt, each on its own, and again with what has changed", async () => {
      place.put("seen.sh", "echo heard >> seen.txt\n");
      hook("sh seen.sh");
      const one = { command: process.execPath, args: [sampleServer] };
      place.put(".mcp.json", JSON.stringify({ mcpServers: { one } }));
      await serve(() => ({ parts: [say("fine")] }));
      const first = await open(answering("later", "never"));
      const id = await begin(first);
      await ask(first, id, prompt("one"));
      await ask(first, id, prompt("two"));
      assert.equal(first.permissions.length, 2);
      assert.match(textOf(first), /UserPromptSubmit: sh seen\.sh[\s\S]*with seen\.sh/);
      assert.match(textOf(first), /one:[\s\S]*server\.mjs/);
      assert.equal(existsSync(join(place.workspace, "seen.txt")), false);
      const second = await open(answering("yes"));
      await ask(second, await begin(second), prompt("three"));
      assert.equal(second.permissions.length, 1);
      assert.equal(readFileSync(join(place.workspace, "seen.txt"), "utf8"), "heard\n");
      place.put("seen.sh", "echo otherwise >> seen.txt\n");
      const third = await open(answering("later"));
      await ask(third, await begin(third), prompt("four"));
      assert.match(textOf(third), /CHANGED {2}UserPromptSubmit: sh seen\.sh[\s\S]*seen\.sh is not as it was/);
      assert.equal(readFileSync(join(place.workspace, "seen.txt"), "utf8"), "heard\n");
    });

    it("a server that is let start is one of the session's", async () => {
      const one = { command: process.execPath, args: [sampleServer] };
      place.put(".mcp.json", JSON.stringify({ mcpServers: { one } }));
      await serve([{ parts: [say("fine")] }]);
      const editor = await open(answering("yes"));
      await ask(editor, await begin(editor), prompt("hi"));
      assert.match(server.records[0]?.text ?? "", /find_tools/);
    });

    it("the person who stops instead says nothing of them", async () => {
      hook("true");
      await serve([{ parts: [say("fine")] }]);
      const editor = await open();
      const id = await begin(editor);
      assert.deepEqual(await ask(editor, id, prompt("one")), { stopReason: "cancelled" });
      assert.deepEqual(await ask(editor, id, prompt("one")), { stopReason: "cancelled" });
      assert.deepEqual([editor.permissions.length, server.records.length], [2, 0]);
    });
  });

  it("says what is wrong with a request, and lives on", async () => {
    await serve(() => ({ parts: [say("fine")], fault: { type: "slow", ms: 1 } }));
    const editor = await open();
    const { agent } = editor;
    const id = await begin(editor);
    const asked = (sessionId: string, blocks: ContentBlock[]) => ask(editor, sessionId, blocks);
    await assert.rejects(asked("nobody", prompt("hi")), /there is no session nobody/);
    await assert.rejects(asked(id, []), /the prompt is empty/);
    await assert.rejects(asked(id, [{ type: "audio", data: "AA==", mimeType: "audio/wav" }]), /sound/);
    await assert.rejects(asked(id, [{ type: "image", data: "AA==", mimeType: "image/png" }]), /neither png/);
    const inNowhere = agent.request(methods.agent.session.new, { cwd: "/no/such/place", mcpServers: [] });
    await assert.rejects(inNowhere, /there is no such folder/);
    const params = { cwd: place.workspace, mcpServers: [], sessionId: "nobody" };
    await assert.rejects(agent.request(methods.agent.session.load, params), /there is no session nobody/);
    const both = await Promise.allSettled([asked(id, prompt("one")), asked(id, prompt("two"))]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
    assert.deepEqual(await asked(id, prompt("three")), { stopReason: "end_turn" });
  });

  it("tells a provider's failure as an error, and a limit as a reason to stop", async () => {
    const refused = { fault: { type: "status", status: 401, message: "wrong key" } } as const;
    await serve((_, i) => (i === 0 ? refused : { parts: [call("c", "list", {})] }));
    const editor = await open({}, ["--max-steps", "1"]);
    const id = await begin(editor);
    await assert.rejects(ask(editor, id, prompt("hi")), /401|key/);
    assert.deepEqual(await ask(editor, id, prompt("hi")), { stopReason: "max_turn_requests" });
  });

  it("ends all it started when the editor goes away", async () => {
    await serve([{ parts: [call("c1", "shell", { command: "echo begun; sleep 1000", timeout_s: 1000 })] }]);
    const editor = await open();
    const asked = ask(editor, await begin(editor), prompt("wait"));
    const settled = asked.catch(() => undefined);
    await editor.told((one) => JSON.stringify(one).includes("begun\\n"));
    await editor.leave();
    await settled;
  });
});
