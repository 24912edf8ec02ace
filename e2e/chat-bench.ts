/** A person's view of the chat for tests: a folder, a model that answers from a list, a terminal. */
import { afterEach, beforeEach } from "node:test";
import { startWireServer, type WireAnswer, type WireServer } from "@lathe/testkit";
import { say } from "./answer-parts.ts";
import { makePlace, type Place, wireEnv } from "./lathe.ts";
import { openTmux, type Size, type Tmux } from "./tmux.ts";

export interface ChatOpening {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly size?: Size;
}

export interface ChatBench {
  readonly place: Place;
  readonly server: WireServer;
  readonly terminal: Tmux;
  /** Sets the model's next answers; after them it says "Well.". */
  answer(...answers: readonly WireAnswer[]): void;
  /** *Contract:* closes an earlier terminal; resolves once the chat is ready. */
  open(opening?: ChatOpening): Promise<Tmux>;
}

const usual: Size = { columns: 100, rows: 40 };

/** *Contract:* called once per group of tests; each test gets its own place, which is removed afterwards. */
export function openChatBench(): ChatBench {
  let place: Place;
  let server: WireServer;
  let tmux: Tmux | undefined;
  let queue: readonly WireAnswer[];
  beforeEach(async () => {
    place = makePlace();
    queue = [];
    server = await startWireServer(() => {
      const [next = { parts: [say("Well.")] }, ...rest] = queue;
      queue = rest;
      return next;
    });
  });
  afterEach(async () => {
    await tmux?.close();
    tmux = undefined;
    await server.close();
    place.remove();
  });
  return {
    get place() {
      return place;
    },
    get server() {
      return server;
    },
    get terminal() {
      if (!tmux) throw new Error("no terminal is open");
      return tmux;
    },
    answer: (...answers) => {
      queue = answers;
    },
    open: async ({ args = [], env = {}, size = usual } = {}) => {
      await tmux?.close();
      tmux = await openTmux(place, ["--no-sandbox", ...args], {
        size,
        env: { ...wireEnv(server.url), ...env },
      });
      await tmux.until(/claude-sonnet-5-5 · \w+/);
      return tmux;
    },
  };
}
