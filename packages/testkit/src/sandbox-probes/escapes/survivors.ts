/** Escapes: processes that outlive their command or the sandbox. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isFailure } from "@lathe/protocol";
import type { Ground } from "../ground.ts";
import { processesWith } from "../observe.ts";
import type { EscapeProbe } from "../probe.ts";

const survives = { group: "survivors", isGrave: false } as const;

/** A duration that no other process sleeps for. */
const seconds = ({ tag }: Ground): string => `301.${tag}`;

/** Whether they still run after they had time to end. */
const alive: EscapeProbe["escaped"] = async ({ ground }) => {
  await sleep(150);
  return leftAlive(ground);
};

function leftAlive(ground: Ground): string | undefined {
  const left = processesWith(`sleep ${seconds(ground)}`);
  return left.length > 0 ? `${left.length} live on: ${left[0]}` : undefined;
}

function endAll(ground: Ground): void {
  for (const pid of pidsWith(`sleep ${seconds(ground)}`)) process.kill(pid, "SIGKILL");
}

const lives = (id: string, what: string, steps: (ground: Ground) => string): EscapeProbe => ({
  ...survives,
  id: `survivor-${id}`,
  what,
  steps,
  escaped: alive,
  restore: endAll,
});

function pidsWith(words: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").includes(words);
      } catch {
        return false;
      }
    });
}

export const survivors: readonly EscapeProbe[] = [
  lives(
    "setsid",
    "leaves a process in a session of its own",
    (ground) => `setsid sleep ${seconds(ground)} >/dev/null 2>&1 & sleep 0.1`,
  ),
  lives(
    "nohup",
    "leaves a process that ignores hang-ups",
    (ground) => `nohup sleep ${seconds(ground)} >/dev/null 2>&1 & disown; sleep 0.1`,
  ),
  lives(
    "daemon",
    "leaves a daemon that forked twice",
    (ground) => `(setsid bash -c '(sleep ${seconds(ground)} </dev/null >/dev/null 2>&1 &) &' &); sleep 0.1`,
  ),
  lives(
    "deaf",
    "leaves a process that ignores every signal it can",
    (ground) =>
      `setsid bash -c 'trap "" TERM HUP INT QUIT USR1 USR2 PIPE ALRM TSTP; exec sleep ${seconds(ground)}' >/dev/null 2>&1 & sleep 0.1`,
  ),
  lives(
    "hidden",
    "leaves a process without environment and with closed descriptors",
    (ground) => `(setsid env -i sleep ${seconds(ground)} <&- >&- 2>&- &); sleep 0.1`,
  ),
  lives(
    "many",
    "leaves processes that start each other again",
    (ground) =>
      `for i in 1 2 3 4 5 6 7 8; do (setsid bash -c 'trap "" TERM; for j in 1 2 3; do sleep ${seconds(ground)}; done' >/dev/null 2>&1 &); done; sleep 0.2`,
  ),
  {
    ...survives,
    id: "survivor-timeout",
    what: "lives on when its command ran out of time",
    steps: (ground) => [
      {
        script: `setsid sleep ${seconds(ground)} >/dev/null 2>&1 & trap '' TERM; sleep ${seconds(ground)}; sleep ${seconds(ground)}`,
        timeoutMs: 700,
      },
    ],
    escaped: alive,
    restore: endAll,
  },
  {
    ...survives,
    id: "survivor-after-close",
    what: "lives on when the sandbox is closed, started as a background process",
    noControl: "the bare driver starts no background processes",
    steps: "true",
    escaped: async ({ ground, sandbox }) => {
      const script = `setsid bash -c 'trap "" TERM HUP; sleep ${seconds(ground)}; sleep ${seconds(ground)}' & sleep ${seconds(ground)}`;
      const started = await sandbox.spawn({ script, cwd: ground.workspace });
      if (isFailure(started)) return undefined;
      while (processesWith(`sleep ${seconds(ground)}`).length < 2 && started.exit === undefined)
        await sleep(20);
      return undefined;
    },
    escapedAfterClose: leftAlive,
    restore: endAll,
  },
];
