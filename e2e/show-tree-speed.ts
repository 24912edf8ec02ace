/**
 * Measures how long the worktrees of several attempts take on a large repository, and git's share: `node
 * e2e/show-tree-speed.ts [ATTEMPTS] [FILES] [CHECKOUT...]`; compares several checkouts of Lathe in turn.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { localPlaces } from "../packages/hosts/local/src/attempts/local-attempts.ts";
import type { makePlaces } from "../packages/sessions/attempts/src/make-places.ts";

const [attempts = 4, files = 10_000] = process.argv.slice(2, 4).map(Number);
const own = fileURLToPath(new URL("..", import.meta.url));
const checkouts = process.argv.length > 4 ? process.argv.slice(4) : [own];
const rounds = 3;
const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-measure-")));
const workspace = join(folder, "workspace");

function makeRepository(): void {
  for (let at = 0; at < files; at++) {
    const place = join(workspace, `d${at % 100}`, `e${at % 7}`);
    mkdirSync(place, { recursive: true });
    const line = `line of file ${at}, ${(at * 2_654_435_761) % 4_294_967_296}\n`;
    writeFileSync(join(place, `f${at}`), line.repeat(1 + (at % 200)));
  }
  const git = (...args: readonly string[]): unknown => execFileSync("git", ["-C", workspace, ...args]);
  git("init", "-q");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "all");
  for (let at = 0; at < 20; at++) writeFileSync(join(workspace, `d${at}`, `new${at}`), "in no commit\n");
}

/** Milliseconds by git command. */
function gitTimes(trace: string): string {
  const times = new Map<string, { count: number; ms: number }>();
  const names = new Map<unknown, string>();
  for (const line of readFileSync(trace, "utf8").split("\n").filter(Boolean)) {
    const { event, sid, argv, t_abs: seconds } = JSON.parse(line);
    if (event === "start") {
      const words = argv.filter(
        (word: string, n: number) => n > 0 && argv[n - 1] !== "-c" && !/^-/.test(word),
      );
      names.set(sid, words.slice(0, words[0] === "worktree" ? 2 : 1).join(" "));
    }
    if (event !== "exit") continue;
    const name = String(names.get(sid));
    const { count, ms } = times.get(name) ?? { count: 0, ms: 0 };
    times.set(name, { count: count + 1, ms: ms + seconds * 1_000 });
  }
  const rows = [...times].toSorted(([, a], [, b]) => b.ms - a.ms);
  return rows.map(([name, { count, ms }]) => `${name} x${count} ${ms.toFixed(0)}`).join(", ");
}

async function round(checkout: string, at: number): Promise<number> {
  const module = (path: string): Promise<unknown> => import(pathToFileURL(join(checkout, path)).href);
  const { makePlaces: make } = (await module("packages/sessions/attempts/src/make-places.ts")) as {
    makePlaces: typeof makePlaces;
  };
  const { localPlaces: local } = (await module("packages/hosts/local/src/attempts/local-attempts.ts")) as {
    localPlaces: typeof localPlaces;
  };
  const trace = join(folder, `trace-${at}`);
  const env = { ...process.env, XDG_STATE_HOME: join(folder, "state"), GIT_TRACE2_EVENT: trace };
  const wish = { count: attempts, worktrees: true, cwd: workspace, about: "measured", session: "s" };
  const places = await make(local(env, ["false"]), wish);
  if (!("made" in places)) throw new Error(places.text);
  process.stdout.write(`${checkout}: ${places.readyMs.toFixed(0)} ms; git: ${gitTimes(trace)}\n`);
  const from = performance.now();
  const first = places.made[0];
  const changes = await first?.open.compare();
  if (!changes || "code" in changes) throw new Error("not compared");
  process.stdout.write(`  compared once: ${(performance.now() - from).toFixed(0)} ms\n`);
  // Removed only at the end: after many files were removed, ext4 makes new ones several times slower for
  // minutes.
  return places.readyMs;
}

try {
  makeRepository();
  let at = 0;
  const times = new Map<string, number[]>();
  for (let n = 0; n < rounds; n++) {
    for (const checkout of checkouts) {
      const ms = await round(checkout, at++);
      times.set(checkout, [...(times.get(checkout) ?? []), ms]);
    }
  }
  for (const [checkout, all] of times) {
    const [least, middle, most] = all.toSorted((a, b) => a - b).map((ms) => (ms / 1_000).toFixed(1));
    process.stdout.write(
      `${attempts} working trees of ${files} files, ${checkout}: ${least} / ${middle} / ${most} s (least / middle / most of ${rounds})\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
