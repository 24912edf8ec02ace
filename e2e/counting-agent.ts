/** A scripted job of many steps for crash tests: each writes one file and notes in one command that it did. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AssistantPart, Message } from "@lathe/protocol";
import { startWireServer, type WireAnswer, type WireServer } from "@lathe/testkit";
import { type Place, wireEnv } from "./lathe.ts";

const jobSteps = 6;

/** The server tells from the request how far the job is, so that it serves any number of processes. */
export function startJobServer(): Promise<WireServer> {
  return startWireServer(({ request }): WireAnswer => {
    const done = request.messages.filter(isToolMessage).length;
    if (done >= jobSteps) return { parts: [{ type: "text", text: "The job is done." }] };
    return { parts: stepParts(done + 1) };
  });
}

function isToolMessage({ role }: Message): boolean {
  return role === "tool";
}

function stepParts(step: number): readonly AssistantPart[] {
  const write = { path: `file-${step}.txt`, content: `${step}\n` };
  return [
    { type: "tool-call", id: `w${step}`, tool: "write", input: JSON.stringify(write) },
    {
      type: "tool-call",
      id: `s${step}`,
      tool: "shell",
      input: JSON.stringify({ command: `echo ${step} >> ran.txt` }),
    },
  ];
}

/** Starts the job, kills it after each of the delays, and lets it end. */
export async function runWithKills(
  place: Place,
  server: WireServer,
  delays: readonly number[],
): Promise<void> {
  const env = wireEnv(server.url);
  let status: string | undefined;
  for (const delay of delays) {
    const running = place.start(jobArgs(status), { env });
    const timer = setTimeout(() => running.child.kill("SIGKILL"), delay);
    const { code, err } = await running.ended;
    clearTimeout(timer);
    assert.ok(code === null || code === 0, err);
    status = await newestStatus(place);
    if (status === "done") return;
  }
  const { code, out, err } = await place.run(jobArgs(status), { env });
  assert.equal(code, 0, err);
  assert.equal(out, "The job is done.\n");
}

async function newestStatus(place: Place): Promise<string | undefined> {
  const { out } = await place.run(["sessions", "list", "--json"]);
  return JSON.parse(out)[0]?.status;
}

/** Words only as long as there is no session: from then on it knows what to do. */
function jobArgs(status: string | undefined): readonly string[] {
  return ["run", "--no-sandbox", ...(status === undefined ? ["do the job"] : ["--continue"])];
}

/** Every file is there, no command ran twice, and the log has no gap. */
export async function assertJobDone(place: Place): Promise<void> {
  for (let step = 1; step <= jobSteps; step++) {
    assert.equal(readFileSync(join(place.workspace, `file-${step}.txt`), "utf8"), `${step}\n`);
  }
  const ran = readFileSync(join(place.workspace, "ran.txt"), "utf8").trim().split("\n");
  assert.deepEqual(ran, [...new Set(ran)]);
  const { out } = await place.run(["sessions", "list", "--json"]);
  const sessions: { id: string; status: string }[] = JSON.parse(out);
  assert.equal(sessions[0]?.status, "done");
  const shown = await place.run(["sessions", "show", sessions[0]?.id ?? "", "--json"]);
  const seqs = shown.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).seq);
  assert.deepEqual(
    seqs,
    seqs.map((_, i) => i + 1),
  );
}
