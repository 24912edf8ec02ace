/** `lathe run --best-of` in git working trees, with two attempts of which the second is right and can be held. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach } from "node:test";
import { runGitIn, startWireServer, type WireAnswer, type WireRecord, type WireServer } from "@lathe/testkit";
import { callTo } from "./answer-parts.ts";
import { makePlace, type Place, wireEnv } from "./lathe.ts";

const names = ["claude-opus-5-5", "claude-sonnet-5-5"];
const models = names.map((name) => `anthropic/${name}`).join(",");
const written = ["wrong\n", "right\n"];

export interface AttemptTreesBench {
  readonly place: Place;
  readonly server: WireServer;
  /** Holds the second attempt before its end; resolved once it is held. */
  held: PromiseWithResolvers<void> | undefined;
  bestOf(...more: readonly string[]): readonly string[];
  /** What the file holds that the attempts write. */
  word(): string;
  listed(): Promise<readonly { readonly id: string; readonly worktree?: string }[]>;
  assertNothingLeft(): Promise<void>;
}

/** Inside of a `describe`: a place and a server for each of its tests. */
export function attemptTreesBench(): AttemptTreesBench {
  let place: Place;
  let server: WireServer;
  const bench: { held: PromiseWithResolvers<void> | undefined } = { held: undefined };

  beforeEach(async () => {
    bench.held = undefined;
    server = await startWireServer((record) => answerOf(record));
    place = makePlace(wireEnv(server.url));
    place.put("word.txt", "none\n");
    place.put("other.txt", "as it was\n");
    runGitIn(place.workspace, "init", "-q");
    runGitIn(place.workspace, "add", ".");
    runGitIn(place.workspace, "commit", "-qm", "first");
    place.put("other.txt", "not committed\n");
  });
  afterEach(async () => {
    await server.close();
    place.remove();
  });

  const answerOf = ({ body, request }: WireRecord): WireAnswer => {
    const at = names.indexOf(String(body.model));
    const steps = request.messages.filter(({ role }) => role === "tool").length;
    if (steps === 0)
      return { parts: [callTo("shell", { command: "cat other.txt" }), callTo("read", { path: "word.txt" })] };
    if (steps === 1) return { parts: [callTo("write", { path: "word.txt", content: written[at] ?? "" })] };
    if (bench.held && at === 1) {
      bench.held.resolve();
      return { parts: [], fault: { type: "stall", after: "nothing", pings: true } };
    }
    return { parts: [{ type: "text", text: `Attempt of ${body.model} is done.` }] };
  };
  const bestOf = (...more: readonly string[]): readonly string[] => [
    ...["run", "--best-of", "2", "--attempt-models", models],
    ...["--test-command", "grep -q right word.txt && touch tested", ...more, "put the right word there"],
  ];
  const word = (): string => readFileSync(join(place.workspace, "word.txt"), "utf8");
  const listed = async (): Promise<readonly { readonly id: string; readonly worktree?: string }[]> =>
    JSON.parse((await place.run(["fork", "list", "--json"])).out) as readonly { readonly id: string }[];
  const assertNothingLeft = async (): Promise<void> => {
    assert.deepEqual([await listed(), place.leftovers()], [[], []]);
    assert.equal(existsSync(`${place.workspace}.worktrees`), false);
    assert.equal(runGitIn(place.workspace, "branch", "--list", "lathe/*"), "");
    assert.equal(runGitIn(place.workspace, "worktree", "list").trim().split("\n").length, 1);
  };
  const more = {
    get place() {
      return place;
    },
    get server() {
      return server;
    },
    ...{ bestOf, word, listed, assertNothingLeft },
  };
  return Object.defineProperties(bench, Object.getOwnPropertyDescriptors(more)) as AttemptTreesBench;
}
