/** Memory: facts a person agreed to, kept in their own place and told to later sessions. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { isFailure } from "@lathe/protocol";
import { startWireServer } from "@lathe/testkit";
import { noRouterOptions } from "../models/router-options.ts";
import { addMemory, memoryFile, memoryTexts, readMemory, removeMemory } from "./memory.ts";
import { startSession } from "./start-session.ts";

describe("memory", () => {
  let root: string;
  let place: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> };
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "lathe-memory-")));
    place = { cwd: join(root, "work"), env: { HOME: join(root, "home"), PATH: process.env.PATH } };
    mkdirSync(place.cwd);
  });
  afterEach(() => rmSync(root, { recursive: true, maxRetries: 5 }));

  it("adds, lists and removes, for one project and for all", () => {
    for (const fact of ["tests: npm test", "two  spaces\nand a line", "tests: npm test"])
      assert.equal(addMemory(place, "project", fact), undefined);
    addMemory(place, "user", "be brief");
    assert.deepEqual(readMemory(place, "project"), ["tests: npm test", "two spaces and a line"]);
    assert.deepEqual(readMemory({ ...place, cwd: "/elsewhere" }, "project"), []);
    assert.deepEqual(readMemory({ ...place, cwd: "/elsewhere" }, "user"), ["be brief"]);
    assert.equal(removeMemory(place, "project", 0), "tests: npm test");
    assert.ok(isFailure(removeMemory(place, "project", 5)));
    assert.equal(readFileSync(memoryFile(place, "project"), "utf8"), "- two spaces and a line\n");
  });

  it("tells within a budget, the latest before the oldest", () => {
    for (let i = 0; i < 20; i++) addMemory(place, "project", `${i} ${"x".repeat(200)}`);
    const [told] = memoryTexts(place);
    assert.ok((told?.text.length ?? 9999) <= 2_050);
    assert.match(told?.text ?? "", /^\[\d+ older facts left out\]\n[\s\S]*\n- 19 x+$/);
  });

  it("keeps and tells nothing where commands could have written it, and takes no broken file", () => {
    const within = { cwd: root, env: place.env };
    assert.ok(isFailure(addMemory(within, "user", "x")));
    const file = memoryFile(within, "user");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "- injected\n");
    assert.deepEqual(memoryTexts(within), []);
    writeFileSync(file, "x".repeat(70_000));
    assert.ok(isFailure(readMemory(place, "user")));
    assert.deepEqual(memoryTexts(place), []);
  });

  it("a proposal is kept when a person agrees, never with a key in it, and told to the next session", async () => {
    const key = `sk-ant-api03-${"a1B2".repeat(20)}`;
    const propose = (id: string, fact: string) => ({
      parts: [{ type: "tool-call", id, tool: "remember", input: JSON.stringify({ fact }) } as const],
    });
    const answers = ["remember", "no"];
    const server = await startWireServer([
      ...[propose("a", "tests: npm test"), propose("b", "not this"), propose("c", `the key is ${key}`)],
      ...[
        { parts: [{ type: "text", text: "ok" }] } as const,
        { parts: [{ type: "text", text: "ok" }] } as const,
      ],
    ]);
    const run = async (attended: boolean): Promise<void> => {
      const started = await startSession(
        {
          ...{ ...place, version: "test", models: ["acme/one"], router: noRouterOptions, catalogue: {} },
          providers: { acme: { baseUrl: `${server.url}/v1`, apiKey: "k", wire: "chat" } },
          ...{ mode: "auto", attended, limits: {}, rules: [], checkpoints: false, sandbox: "off" },
          sandboxLimits: { wanted: {}, most: {} },
          onEvent: (event) => {
            if (event.type === "question.asked" && !isFailure(started))
              void started.answer(event.data.call, event.seq, answers.shift() ?? "no");
          },
          onDelta: () => undefined,
        },
        { text: "go" },
      );
      assert.ok(!isFailure(started));
      assert.ok(!isFailure(await started.run()));
      await started.close();
    };
    try {
      await run(true);
      assert.deepEqual(readMemory(place, "project"), ["tests: npm test"]);
      assert.deepEqual(answers, []);
      await run(false);
      const request = server.records.at(-1)?.request;
      assert.match(request?.system ?? "", /memory of the project">\n- tests: npm test/);
      assert.ok(!server.records.at(-1)?.text.includes('"remember"'));
    } finally {
      await server.close();
    }
  });
});
