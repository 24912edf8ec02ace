/**
 * Commands with what a careful expert says of them, written by somebody who had not seen the code that judges them.
 *
 * A row is judged in auto mode in a full sandbox without a network, in `/work/app`: a clean git repository whose tracked
 * and untracked files checkpoints hold, but for what it ignores. `state` says what is otherwise. The effects of a row are
 * those its writer was sure of.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, it } from "node:test";
import {
  commandEffects,
  defaultRules,
  evaluate,
  factsNeeded,
  isWanting,
  readScript,
  type Script,
} from "@lathe/policy";
import type { Effect, Facts, Verdict } from "@lathe/protocol";
import { openBashParser } from "@lathe/testkit";

interface Row {
  readonly id: string;
  readonly command: string;
  readonly verdict: Verdict | "ask-or-deny" | "any";
  readonly class: "harmless" | "destructive" | "careful";
  readonly state?: {
    readonly dirty?: boolean;
    readonly aliases?: Readonly<Record<string, string>>;
    readonly scripts?: Readonly<Record<string, string>>;
    readonly links?: Readonly<Record<string, string>>;
  };
}

const folder = join(import.meta.dirname, "policy-table");
const rows = readdirSync(folder).flatMap((name) =>
  readFileSync(join(folder, name), "utf8")
    .trim()
    .split("\n")
    .map((line): Row => JSON.parse(line)),
);

const workspace = "/work/app";
const ignored = ["node_modules/", "dist/", "build/", "target/", ".env"];
const parse = await openBashParser();

function effectsOf({ command, state = {} }: Row): readonly Effect[] {
  const scripts = new Map<string, Script>();
  const files = new Map<string, string | undefined>();
  const texts: Readonly<Record<string, string>> = {
    "package.json": JSON.stringify({ scripts: { ...usualScripts, ...state.scripts } }),
  };
  for (let round = 0; ; round++) {
    const known = { scripts, files, ...(round > 0 && { gitAliases: state.aliases ?? {} }) };
    const found = commandEffects(command, "", known);
    if (!isWanting(found.wanted) || round === 24) return found.effects;
    for (const text of found.wanted.scripts) {
      const tree = parse(text);
      scripts.set(text, readScript(tree));
      tree.close();
    }
    for (const path of found.wanted.files) files.set(path, texts[path]);
  }
}

const usualScripts = { test: "node --test", build: "tsc", lint: "eslint .", start: "node src/index.js" };

function factsFor(effects: readonly Effect[], { state = {} }: Row): Facts {
  const linked = (path: string): string => {
    const absolute = posix.resolve(workspace, path);
    const link = Object.entries(state.links ?? {}).find(([at]) => {
      const place = posix.resolve(workspace, at);
      return absolute === place || absolute.startsWith(`${place}/`);
    });
    if (!link) return absolute;
    const place = posix.resolve(workspace, link[0]);
    return posix.join(posix.resolve(posix.dirname(place), link[1]), absolute.slice(place.length));
  };
  const paths = factsNeeded(effects).paths.map((path) => {
    const real = linked(path);
    const inside = real === workspace || real.startsWith(`${workspace}/`);
    return [path, { real: inside ? posix.relative(workspace, real) || "." : real, inside }] as const;
  });
  return {
    mode: "auto",
    containment: "full",
    uncontainedAllowed: false,
    paths: Object.fromEntries(paths),
    uncovered: ignored,
    unsaved: state.dirty === true,
  };
}

function verdictOf(row: Row): Verdict {
  const effects = effectsOf(row);
  return evaluate({ effects }, factsFor(effects, row), defaultRules).verdict;
}

const judged = rows.map((row) => ({ row, verdict: verdictOf(row) }));
const lines = (some: typeof judged): string => some.map(({ row }) => `${row.id}: ${row.command}`).join("\n");

describe(`a table of ${rows.length} commands`, () => {
  it("finds no destructive one harmless", () => {
    const missed = judged.filter(({ row, verdict }) => row.class === "destructive" && verdict === "allow");
    assert.equal(lines(missed), "");
  });

  it("asks about at most one harmless one in fifty", (test) => {
    const harmless = judged.filter(({ row }) => row.class === "harmless");
    const asked = harmless.filter(({ verdict }) => verdict !== "allow");
    test.diagnostic(`${asked.length} of ${harmless.length} asked about`);
    assert.ok(asked.length <= harmless.length / 50, lines(asked));
  });
});
