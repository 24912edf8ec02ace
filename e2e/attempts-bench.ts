/** `lathe run --best-of` with three attempts of which the second is best; each can be held before its end. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach } from "node:test";
import { runGitIn, startWireServer, type WireAnswer, type WireRecord, type WireServer } from "@lathe/testkit";
import { callTo } from "./answer-parts.ts";
import { makePlace, type Place, wireEnv } from "./lathe.ts";

/** Why it cannot be tried here; undefined where there are forks. */
export async function noForks(): Promise<string | undefined> {
  const place = makePlace();
  const { code, err } = await place.run(["sandbox", "exec", "--fork", "--", "true"]);
  place.remove();
  return code === 0 ? undefined : err;
}

const names = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-4-5"];
const models = names.map((name) => `anthropic/${name}`).join(",");

/** What each attempt writes into the file that the test reads. */
const written = ["wrong\n", "right\n", "right\nand more\n"];

export interface AttemptsBench {
  readonly place: Place;
  readonly server: WireServer;
  /** Holds the third attempt before its end; resolved once it is held. */
  held: PromiseWithResolvers<void> | undefined;
  /** What a model that judges answers. */
  judges: string;
  bestOf(...more: readonly string[]): readonly string[];
  /** What the file holds that the attempts write. */
  word(): string;
  forks(): Promise<readonly { readonly about: string }[]>;
  sessions(): Promise<readonly Listed[]>;
}

export interface Listed {
  readonly id: string;
  readonly agent?: string;
  readonly parent?: string;
  readonly status: string;
}

/** Inside of a `describe`: a place and a server for each of its tests. */
export function attemptsBench(): AttemptsBench {
  let place: Place;
  let server: WireServer;
  const bench: { held: PromiseWithResolvers<void> | undefined; judges: string } = {
    held: undefined,
    judges: "",
  };

  beforeEach(async () => {
    bench.held = undefined;
    bench.judges = '{"best": 1, "why": "it is clear"}';
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
    if (request.system.includes("You judge changes"))
      return { parts: [{ type: "text", text: bench.judges }] };
    const at = names.indexOf(String(body.model));
    const steps = request.messages.filter(({ role }) => role === "tool").length;
    if (steps === 0)
      return { parts: [callTo("shell", { command: "cat other.txt" }), callTo("read", { path: "word.txt" })] };
    if (steps === 1) return { parts: [callTo("write", { path: "word.txt", content: written[at] ?? "" })] };
    if (bench.held && at === 2) {
      bench.held.resolve();
      return { parts: [], fault: { type: "stall", after: "nothing", pings: true } };
    }
    return { parts: [{ type: "text", text: `Attempt of ${body.model} is done.` }] };
  };
  const bestOf: AttemptsBench["bestOf"] = (...more: readonly string[]): readonly string[] => [
    "run",
    ...[
      "--best-of",
      "3",
      "--attempt-models",
      models,
      "--test-command",
      "grep -q right word.txt && touch tested",
    ],
    ...more,
    "put the right word there",
  ];
  const word = (): string => readFileSync(join(place.workspace, "word.txt"), "utf8");
  const forks = async (): Promise<readonly { readonly about: string }[]> =>
    JSON.parse((await place.run(["fork", "list", "--json"])).out) as readonly { readonly about: string }[];
  const sessions = async (): Promise<readonly Listed[]> =>
    JSON.parse((await place.run(["sessions", "list", "--json"])).out) as readonly Listed[];
  const more = {
    get place() {
      return place;
    },
    get server() {
      return server;
    },
    ...{ bestOf, word, forks, sessions },
  };
  return Object.defineProperties(bench, Object.getOwnPropertyDescriptors(more)) as AttemptsBench;
}
