/** Tests that no session reaches Lathe's own files, even if the workspace contains the state folder. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { AssistantPart } from "@lathe/protocol";
import { probeDriver } from "@lathe/sandbox";
import { startWireServer, type WireServer } from "@lathe/testkit";
import { makePlace } from "./in-process.ts";
import { type Place, wireEnv } from "./lathe.ts";

const token = ["tok", "5f2e", "the-very-token"].join("-");
const login = "state/lathe/mcp/0123456789abcdef01234567.login.json";
let last = 0;
const call = (tool: string, input: object): AssistantPart => ({
  ...{ type: "tool-call", id: `c${++last}`, tool },
  input: JSON.stringify(input),
});

const { driver } = await probeDriver({});
const skip = driver.tier !== "full" && "no sandbox works here that hides files";

describe("logins and answers in a state folder inside the workspace", () => {
  let place: Place;
  let server: WireServer;
  beforeEach(() => {
    place = makePlace();
    place.put(login, JSON.stringify({ access_token: token }));
  });
  afterEach(async () => {
    await server.close();
    place.remove();
  });
  const env = (): Readonly<Record<string, string>> => ({
    ...wireEnv(server.url),
    XDG_STATE_HOME: join(place.workspace, "state"),
  });
  const run = async (calls: readonly AssistantPart[], ...args: readonly string[]): Promise<string> => {
    server = await startWireServer([
      ...calls.map((one) => ({ parts: [one] })),
      { parts: [{ type: "text", text: "done" }] },
    ]);
    const { code, err } = await place.run(["run", ...args, "go"], { env: env() });
    assert.equal(code, 0, err);
    assert.equal(server.records.length, calls.length + 1);
    return JSON.stringify(server.records.map(({ request }) => request.messages));
  };
  const stillThere = (): void =>
    assert.match(readFileSync(join(place.workspace, login), "utf8"), new RegExp(token));

  it("cannot be read, found, changed or deleted by a tool", async () => {
    const inbox = "state/lathe/inbox/x/1.json";
    const said = await run(
      [
        call("read", { path: login }),
        call("read", { path: join(place.workspace, login) }),
        call("grep", { pattern: "tok-", path: "." }),
        call("grep", { pattern: "tok-", path: "state/lathe/mcp" }),
        call("write", { path: login, content: "mine" }),
        call("write", { path: inbox, content: "{}" }),
        call("delete", { path: login }),
        call("move", { from: login, to: "taken.json" }),
      ],
      ...["--no-sandbox", "--allow", "read:**", "--allow", "write:**", "--allow", "delete:**"],
    );
    assert.ok(!said.includes(token) && !said.includes("redacted"));
    assert.ok(said.split("Refused (own-places)").length > 5);
    assert.ok(!existsSync(join(place.workspace, inbox)));
    stillThere();
  });

  it("cannot be read, changed or moved by a command", { skip }, async () => {
    const said = await run([
      call("shell", { command: `cat ${login}` }),
      call("shell", { command: "f=log; cat state/lathe/m*p/*.$f*" }),
      call("shell", { command: "find . -type f -exec cat {} + 2>/dev/null | head -c 100000" }),
      call("shell", { command: "mv state moved; cat moved/lathe/mcp/* state/lathe/mcp/*" }),
      call("shell", { command: "ls -laR state/lathe" }),
    ]);
    // Neither may the output contain a session's log.
    for (const one of [token, "redacted", "session.created", "login.json\\n"])
      assert.ok(!said.includes(one), one);
    stillThere();
  });

  it("cannot be reached by a person's own command in the sandbox either", { skip }, async () => {
    server = await startWireServer([]);
    const command = `cat ${login}; ls -R state`;
    const { out, err } = await place.run(["sandbox", "exec", "--", "sh", "-c", command], { env: env() });
    assert.ok(!/token|login\.json$/m.test(out), `${out}${err}`);
    assert.deepEqual(readdirSync(join(place.workspace, "state/lathe/mcp")).length, 1);
  });
});
