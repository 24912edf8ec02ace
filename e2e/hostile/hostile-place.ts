/** A place to try a hostile repository or model: canary programs, an outside folder, and a scripted model. */
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { runGitIn, startWireServer, type WireServer } from "@lathe/testkit";
import { call, say } from "../answer-parts.ts";
import { makePlace } from "../in-process.ts";
import { type Ended, type Place, wireEnv } from "../lathe.ts";

export interface HostilePlace extends Place {
  readonly server: WireServer;
  /** A folder beside the workspace whose files must not be read or changed. */
  readonly outside: string;
  /** A word that occurs only in files of the outside folder. */
  readonly secret: string;
  /** The path of a program that leaves a mark outside every sandbox, then passes its input through. */
  canary(name: string): string;
  /** The text of such a program, to be planted in the workspace. */
  canaryText(name: string): string;
  /** The names of the canaries that ran on the host. */
  ran(): readonly string[];
  /** One call per answer of the model; after the last one it ends the turn. */
  answers(...calls: readonly (readonly [tool: string, input: object])[]): void;
  hello(args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  git(...args: readonly string[]): string;
  /** All text sent to the model. */
  sent(): string;
  /**
   * *Contract:* fails if a file of the outside folder changed, or its content reached the model or the
   * screen.
   */
  assertOutsideUntouched(...texts: readonly string[]): void;
  /** Records the present state of the outside folder as the expected one. */
  rememberOutside(): void;
  close(): Promise<void>;
}

interface OutsideFiles {
  /** Names of further files there. */
  readonly more?: readonly string[];
  /** Names of files that must not be revealed either. */
  readonly secretNames?: readonly string[];
}

export async function openHostilePlace({
  more = [],
  secretNames = [],
}: OutsideFiles = {}): Promise<HostilePlace> {
  let queue: (readonly [string, object])[] = [];
  const server = await startWireServer((_, index) => {
    const next = queue.shift();
    return { parts: [next ? call(`c${index}`, next[0], next[1]) : say("done")] };
  });
  const place = makePlace(wireEnv(server.url));
  const root = dirname(place.workspace);
  const folder = (name: string): string => {
    mkdirSync(join(root, name));
    return join(root, name);
  };
  const [canaries, marks, outside] = [folder("canaries"), folder("marks"), folder("outside")];
  const secret = "the-very-content-of-an-outside-file";
  for (const name of ["f", "f.ts", "AGENTS.md", "notes.txt", ...more, ...secretNames])
    writeFileSync(join(outside, name), `export const outsideSymbol = "${secret}";\n`);
  let before = treeText(outside);
  const canaryText = (name: string): string =>
    `#!/bin/sh\necho ran >> '${marks}/${name}'\ntest $# -gt 0 || cat\n`;
  const sent = (): string => server.records.map(({ text }) => text).join("\n");
  return {
    ...place,
    ...{ server, outside, secret, canaryText, sent },
    canary: (name) => {
      const path = join(canaries, name);
      if (!existsSync(path)) writeFileSync(path, canaryText(name));
      chmodSync(path, 0o755);
      return path;
    },
    ran: () => readdirSync(marks).sort(),
    answers: (...calls) => {
      queue = [...calls];
    },
    hello: (args = [], env = {}) => place.run(["run", ...args, "hello"], { env }),
    git: (...args) => runGitIn(place.workspace, ...args),
    assertOutsideUntouched: (...texts) => {
      assert.deepEqual(treeText(outside), before);
      for (const text of [sent(), ...texts]) {
        for (const word of [secret, ...secretNames]) assert.ok(!text.includes(word), `${word} leaked`);
      }
    },
    rememberOutside: () => {
      before = treeText(outside);
    },
    close: async () => {
      await server.close();
      place.remove();
    },
  };
}

/** The names, kinds and contents below a folder, one per line. */
function treeText(folder: string, below = ""): readonly string[] {
  return readdirSync(join(folder, below))
    .sort()
    .flatMap((name): readonly string[] => {
      const path = join(below, name);
      const stats = lstatSync(join(folder, path));
      if (stats.isDirectory()) return [`${path}/`, ...treeText(folder, path)];
      if (stats.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(folder, path))}`];
      return [`${path} ${stats.isFile() ? readFileSync(join(folder, path), "utf8") : "special"}`];
    });
}

/** A git configuration whose filter `e` runs a program. */
export function filterConfig(program: string, extra = ""): string {
  return `[core]\n\trepositoryformatversion = 0\n\tbare = false\n${extra}[filter "e"]\n\tclean = ${program}\n`;
}
