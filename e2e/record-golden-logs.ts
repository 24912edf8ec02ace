/**
 * Records the sessions of `golden-logs.test.ts` with this build, and the results of this build on them: `node
 * e2e/record-golden-logs.ts [KIND...]`, in a worktree of the build whose logs must stay readable.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startWireServer, type WireAnswer, type WireRecord } from "@lathe/testkit";
import { call, say } from "./answer-parts.ts";
import { goldenFolder, observe, saveGolden } from "./golden-sessions.ts";
import { type Ended, makePlace, type Place, type Running, wireEnv } from "./lathe.ts";

/** A place with a server whose answers come in order. */
interface Stage {
  readonly place: Place;
  answer(...answers: readonly WireAnswer[]): void;
  /** Replaces the answers in order. */
  script: ((record: WireRecord) => WireAnswer) | undefined;
  run(...args: readonly string[]): Promise<Ended>;
  start(...args: readonly string[]): Running;
  /** Types each answer once a question is open. */
  typed(args: readonly string[], answers: readonly string[]): Promise<Ended>;
  newest(): Promise<string>;
}

interface Scene {
  act(stage: Stage): Promise<void>;
  /** `and now?` by default. */
  readonly resume?: readonly string[];
}

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const free = ["run", "--no-sandbox", "--allow", "*", "--allow", "delete:*"];
const done: WireAnswer = { parts: [say("Done.")] };

const scenes: Readonly<Record<string, Scene>> = {
  tools: { act: useTools },
  question: { act: askPerson },
  subagents: { act: delegate },
  compacted: { act: compact },
  rewound: { act: rewind },
  killed: { act: dieInCommand, resume: [] },
  "best-of": { act: attempt },
  image: { act: showImage },
  failover: { act: failOver },
};

async function useTools(stage: Stage): Promise<void> {
  stage.place.put("src/calc.py", "def add(a, b):\n    return a - b\n");
  stage.place.put("src/AGENTS.md", "Indent with four spaces.\n");
  stage.place.put("old.txt", "to be removed\n");
  const edits = [{ path: "src/calc.py", old: "return a - b", new: "return a + b" }];
  stage.answer(
    {
      parts: [
        { type: "reasoning", text: "The sign is wrong.", provider: "anthropic", signature: thought("s1") },
        say("I look at the file."),
        call("r1", "read", { path: "src/calc.py" }),
        call("g1", "grep", { pattern: "def " }),
        call("t1", "todo", { items: [{ text: "fix add", status: "doing" }] }),
      ],
    },
    {
      parts: [call("e1", "edit", { edits }), call("w1", "write", { path: "notes.md", content: "# Notes\n" })],
    },
    { parts: [call("s1", "shell", { command: "ls src && rm old.txt && echo checked > made.txt" })] },
    { parts: [call("x1", "read", { path: "missing.txt" }), call("x2", "shell", { command: "exit 3" })] },
    { parts: [say("`add` is fixed.")] },
    { parts: [call("w2", "write", { path: "later.txt", content: "later\n" })] },
    { parts: [say("Written.")] },
  );
  await ok(stage.run(...free, "fix add"));
  await ok(stage.run(...free, "--continue", "write later.txt"));
}

function thought(signature: string): string {
  return JSON.stringify({ anthropic: { signature } });
}

async function askPerson(stage: Stage): Promise<void> {
  stage.place.put("a.txt", "a\n");
  stage.answer(
    { parts: [call("s1", "shell", { command: "touch once.txt" })] },
    { parts: [call("s2", "shell", { command: "touch project.txt" })] },
    { parts: [call("q1", "ask_user", { question: "Which one?", options: ["the first", "the second"] })] },
    {
      parts: [
        call("s3", "shell", { command: "git push origin main" }),
        call("s4", "shell", { command: "git status" }),
      ],
    },
    done,
  );
  const args = ["run", "--no-sandbox", "--permission-mode", "ask", "do it"];
  await ok(stage.typed(args, ["y\n", "p\n", "2\n", "n\n", "n\n"]));
}

async function delegate(stage: Stage): Promise<void> {
  stage.script = ({ request }) => {
    const results = request.messages.filter(({ role }) => role === "tool").length;
    if (request.system.includes("You are a subagent")) {
      if (results > 0) return { parts: [say("Noted.")] };
      return { parts: [call("c1", "shell", { command: "echo one >> noted.txt" })] };
    }
    if (results > 0) return { parts: [say("All is done.")] };
    const task = (id: string, agent: string): ReturnType<typeof call> =>
      call(id, "task", { agent, prompt: `${agent}: note it` });
    return { parts: [task("t1", "implement"), task("t2", "explore")] };
  };
  await ok(stage.run(...free, "delegate it"));
}

async function compact(stage: Stage): Promise<void> {
  const headings = [
    "Task and constraints",
    "Decisions",
    "State of the work",
    "Files touched",
    "Open failures",
    "Next step",
  ];
  const summary = headings.map((heading) => `## ${heading}\nas it was`).join("\n");
  for (let at = 0; at < 4; at++) stage.place.put(`big-${at}.txt`, `row ${at} of many rows\n`.repeat(300));
  const cat = (at: number): WireAnswer => ({
    parts: [call(`c${at}`, "shell", { command: `cat big-${at}.txt` })],
  });
  stage.answer(
    cat(0),
    cat(1),
    cat(2),
    cat(3),
    { parts: [call("w1", "write", { path: "a.txt", content: "a\n" })] },
    done,
  );
  await ok(stage.run(...free, "read them all; never touch big-0.txt"));
  stage.answer({ parts: [say(summary)] });
  await ok(stage.run("sessions", "compact", await stage.newest(), "--focus", "the rows"));
  stage.answer({ parts: [call("w2", "write", { path: "b.txt", content: "b\n" })] }, done);
  await ok(stage.run(...free, "--continue", "write b.txt"));
}

async function rewind(stage: Stage): Promise<void> {
  stage.place.put("lib/b.txt", "b\n");
  stage.answer(
    { parts: [call("w1", "write", { path: "first.txt", content: "1\n" })] },
    {
      parts: [
        call("s1", "shell", {
          command: "rm -r lib && mkdir new && echo made > new/file && chmod +x first.txt",
        }),
      ],
    },
    done,
  );
  await ok(stage.run(...free, "go"));
  const id = await stage.newest();
  await ok(stage.run("sessions", "rewind", id, "--to", "2", "--files"));
  await ok(stage.run("sessions", "rewind", id, "--undo"));
  await ok(stage.run("sessions", "rewind", id, "--to", "2"));
  stage.answer({ parts: [call("w2", "write", { path: "second.txt", content: "2\n" })] }, done);
  await ok(stage.run(...free, "--continue", "another way"));
}

async function dieInCommand(stage: Stage): Promise<void> {
  stage.place.put("a.txt", "a\n");
  stage.answer(
    { parts: [call("w1", "write", { path: "first.txt", content: "1\n" })] },
    { parts: [call("s1", "shell", { command: "touch started && sleep 1" })] },
  );
  const { child, ended } = stage.start(...free, "go");
  await stage.place.made("started");
  child.kill("SIGKILL");
  await ended;
}

async function attempt(stage: Stage): Promise<void> {
  stage.place.put("word.txt", "none\n");
  const words: Readonly<Record<string, string>> = {
    "claude-opus-5-5": "wrong\n",
    "claude-sonnet-5-5": "right\n",
  };
  stage.script = ({ body, request }) => {
    const results = request.messages.filter(({ role }) => role === "tool").length;
    if (results === 0) return { parts: [call("r1", "read", { path: "word.txt" })] };
    if (results > 1) return { parts: [say(`Attempt of ${body.model} is done.`)] };
    return { parts: [call("w1", "write", { path: "word.txt", content: words[String(body.model)] ?? "" })] };
  };
  const models = Object.keys(words).map((name) => `anthropic/${name}`);
  const test = "grep -q right word.txt";
  const flags = ["--best-of", "2", "--attempt-models", models.join(), "--test-command", test];
  await ok(stage.run("run", ...flags, "put the right word there"));
}

async function showImage(stage: Stage): Promise<void> {
  stage.place.put("dot.txt", "a dot\n");
  stage.place.put("shot.b64", png);
  stage.place.put("shot.png", "");
  writeFileSync(join(stage.place.workspace, "shot.png"), Buffer.from(png, "base64"));
  stage.answer(
    { parts: [call("b1", "shell", { command: "echo began; sleep 3000", background: true })] },
    { parts: [call("p1", "process", { action: "list" }), call("v1", "read", { path: "shot.png" })] },
    { parts: [call("p2", "process", { action: "stop", id: "p1" })] },
    { parts: [say("It is a dot.")] },
  );
  await ok(stage.run(...free, "--image", "shot.png", "what is it?"));
}

async function failOver(stage: Stage): Promise<void> {
  let steps = 0;
  stage.script = ({ body }) => {
    if (body.model === "claude-sonnet-5-5")
      return { fault: { type: "status", status: 401, message: "no such key" } };
    if (steps++ === 0) return { parts: [call("w1", "write", { path: "a.txt", content: "a\n" })] };
    return done;
  };
  await ok(
    stage.run(...free, "--model", "anthropic/claude-sonnet-5-5,anthropic/claude-haiku-4-5", "write a.txt"),
  );
}

async function ok(running: Promise<Ended>): Promise<void> {
  const { code, out, err } = await running;
  if (code !== 0) throw new Error(`exit ${code}\n${out}\n${err}`);
}

async function record(kind: string, { act, resume = ["and now?"] }: Scene): Promise<void> {
  const answers: WireAnswer[] = [];
  const place = makePlace();
  const server = await startWireServer((record) => stage.script?.(record) ?? answers.shift() ?? done);
  const env = wireEnv(server.url);
  const stage: Stage = {
    place,
    script: undefined,
    answer: (...more) => void answers.push(...more),
    run: (...args) => place.run(args, { env }),
    start: (...args) => place.start(args, { env }),
    typed: async (args, typed) => {
      const running = place.startOnTerminal(args, { env });
      for (const text of typed) {
        await asked(running);
        running.child.stdin?.write(text);
      }
      return await running.ended;
    },
    newest: async () => JSON.parse((await place.run(["sessions", "list", "--json"])).out)[0].id,
  };
  await act(stage);
  const parent = JSON.parse((await place.run(["sessions", "list", "--json"])).out) as Listed[];
  const id = parent.find((one) => one.parent === undefined)?.id ?? "";
  rmSync(join(goldenFolder, kind), { recursive: true, force: true });
  saveGolden(kind, place, { id, resume });
  await server.close();
  place.remove();
  const observed = await observe(kind, makePlace);
  writeFileSync(join(goldenFolder, kind, "observed.json"), `${JSON.stringify(observed, undefined, 1)}\n`);
}

interface Listed {
  readonly id: string;
  readonly parent?: string;
}

/** Waits until the next question is open. */
function asked({ child, ended }: Running): Promise<unknown> {
  let seen = "";
  const heard = new Promise<void>((resolve) => {
    child.stdout?.on("data", (text) => {
      seen += text;
      if (seen.includes("> ")) resolve();
    });
  });
  return Promise.race([heard, ended]);
}

const wanted = process.argv.slice(2);
for (const [kind, scene] of Object.entries(scenes)) {
  if (wanted.length > 0 && !wanted.includes(kind)) continue;
  await record(kind, scene);
  process.stdout.write(`${kind}\n`);
}
