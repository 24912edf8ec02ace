/**
 * Measures how long the forks of several attempts take on a large repository: `node e2e/show-best-of-speed.ts
 * [ATTEMPTS] [FILES]`.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { enterArgs } from "@lathe/overlays";
import { dropFork, makeFork } from "@lathe/overlays/fork";
import { forkRefusal } from "@lathe/overlays/fork-refusal";
import { nativeBinary } from "@lathe/sandbox";

const [attempts = 4, files = 10_000] = process.argv.slice(2).map(Number);
const rounds = 11;
const folder = realpathSync(mkdtempSync(join(tmpdir(), "lathe-measure-")));
const forksFolder = join(folder, "forks");

function makeRepository(): string {
  const workspace = join(folder, "workspace");
  for (let at = 0; at < files; at++) {
    const place = join(workspace, `d${at % 100}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `f${at}`), `file ${at}\n`);
  }
  const git = (...args: readonly string[]): unknown => execFileSync("git", ["-C", workspace, ...args]);
  git("init", "-q");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "all");
  return workspace;
}

/** Makes the forks, and runs a program in each until it has seen its last file. */
async function round(
  cwd: string,
  binary: string,
): Promise<{ readonly made: number; readonly entered: number }> {
  const from = performance.now();
  const forks = Array.from({ length: attempts }, (_, at) => {
    const refused = forkRefusal(cwd, { forks: forksFolder, home: "/nowhere" });
    if (refused) throw new Error(refused.text);
    return makeFork(cwd, { folder: forksFolder, id: `${from}-${at}`, about: "measured" });
  });
  const made = performance.now() - from;
  const program = ["/bin/cat", join(cwd, `d${(files - 1) % 100}`, `f${files - 1}`)];
  await Promise.all(
    forks.map(async (fork) => {
      const [file, ...args] = enterArgs(fork, { binary, cwd, program });
      const [code] = await once(spawn(file, args, { stdio: "ignore" }), "exit");
      if (code !== 0) throw new Error(`exit ${code}`);
    }),
  );
  const entered = performance.now() - from;
  for (const fork of forks) dropFork(fork);
  return { made, entered };
}

try {
  const cwd = makeRepository();
  mkdirSync(forksFolder);
  const found = await nativeBinary({ cacheFolder: join(folder, "cache"), path: process.env.PATH ?? "" });
  if (!("binary" in found)) throw new Error(found.why);
  const all = [];
  for (let at = 0; at < rounds; at++) all.push(await round(cwd, found.binary));
  // The first round warms up.
  for (const name of ["made", "entered"] as const) {
    const times = all
      .slice(1)
      .map((one) => one[name])
      .sort((a, b) => a - b);
    const [least, middle, most] = [times[0], times[Math.floor(times.length / 2)], times.at(-1)];
    const text = [least, middle, most].map((one) => (one ?? 0).toFixed(1)).join(" / ");
    process.stdout.write(
      `${attempts} forks of ${files} files ${name}: ${text} ms (least / middle / most of ${times.length})\n`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
