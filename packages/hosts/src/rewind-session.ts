/** Rewind: a session that nobody runs goes back to an earlier moment, its files, its conversation or both. */
import {
  type Checkpoints,
  type Draft,
  type Failure,
  failure,
  fold,
  isFailure,
  type Mark,
  type Restored,
  type Session,
  type SessionLog,
} from "@lathe/protocol";
import { processOwner } from "@lathe/stores";
import { explained } from "./explained.ts";
import { createLazyCheckpoints } from "./lazy-checkpoints.ts";
import { cutOff, type Target, targetOf, theirs } from "./rewind-target.ts";
import { openState } from "./state.ts";
import { systemClock } from "./system-clock.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface RewindOptions {
  /** Right before this step; absent: before the last turn. */
  readonly to?: number;
  readonly files: boolean;
  readonly conversation: boolean;
  /** Also over what somebody else has changed since. */
  readonly force: boolean;
}

export interface Rewound {
  /** The step it is before now. */
  readonly step: number;
  /** Whether the words that opened the turn went too. */
  readonly opens: boolean;
  /** Absent when the files were left alone. */
  readonly restored?: Restored;
}

/** *Contract:* all or nothing; `session-owned` while a process has it, `stale-version` naming what somebody else changed. */
export function rewindSession(env: Env, id: string, options: RewindOptions): Promise<Rewound | Failure> {
  return owning(env, id, async (log, session) => {
    const target = targetOf(session, options);
    if (isFailure(target)) return target;
    const restored = await restoredFiles(target, { session, env, log, options });
    if (restored && isFailure(restored)) return restored;
    const { mark } = target;
    const failed = await note(log, rewindDrafts(mark, { options, restored }));
    return failed ?? { step: mark.step, opens: mark.opens, ...(restored && { restored }) };
  });
}

/** Takes the last rewind back, as long as nobody has spoken since. */
export function undoRewind(
  env: Env,
  id: string,
  { force }: { readonly force: boolean },
): Promise<Rewound | Failure> {
  return owning(env, id, async (log, session) => {
    const { rewind } = session;
    if (!rewind) {
      const text = "there is no rewind to undo: none was made, or somebody has spoken since";
      return failure("invalid-arguments", text, { who: "user" });
    }
    const files = rewind.files !== undefined;
    const options = { files, conversation: rewind.conversation !== undefined, force };
    const restored =
      rewind.files === undefined
        ? undefined
        : await withFiles(session, { env, log }, async (checkpoints) => {
            const expected = session.checkpoints.at(-1)?.ref;
            const known = { session: session.id, force, ...(expected !== undefined && { expected }) };
            return withHint(await checkpoints.restore(rewind.files ?? "", known));
          });
    if (restored && isFailure(restored)) return restored;
    const data = { to: rewind.seq, undoes: true, conversation: options.conversation, ...filesOf(restored) };
    const failed = await note(log, [{ type: "session.rewound", data }]);
    const step = (rewind.conversation?.step ?? session.step) + 1;
    return failed ?? { step, opens: false, ...(restored && { restored }) };
  });
}

async function owning<T>(
  env: Env,
  id: string,
  work: (log: SessionLog, session: Session) => Promise<T | Failure>,
): Promise<T | Failure> {
  const log = await openState(env).store.claim(id, { owner: processOwner(), at: systemClock.now() });
  if (isFailure(log)) return explained(log, env);
  try {
    return await work(log, fold(log.events));
  } finally {
    await log.close();
  }
}

interface Work {
  readonly env: Env;
  readonly log: SessionLog;
}

async function withFiles<T>(
  session: Session,
  { env, log }: Work,
  work: (checkpoints: Checkpoints) => Promise<T | Failure>,
): Promise<T | Failure> {
  const checkpoints = await createLazyCheckpoints({
    root: session.cwd,
    env,
    fenced: (effect) => log.fenced(effect),
  })();
  return isFailure(checkpoints) ? checkpoints : work(checkpoints);
}

async function restoredFiles(
  target: Target,
  { session, env, log, options }: Work & { readonly session: Session; readonly options: RewindOptions },
): Promise<Restored | undefined | Failure> {
  const { ref } = target;
  if (!options.files || ref === undefined) return undefined;
  return withFiles(session, { env, log }, async (checkpoints) => {
    const { force } = options;
    const last = session.checkpoints.at(-1);
    const isCut = last?.moment !== "after";
    const refused = force ? undefined : isCut ? cutOff : await theirs(checkpoints, session, target);
    if (refused) return refused;
    // After a turn that was cut off nobody knows what is its own: all goes back.
    const known = isCut ? {} : { expected: last.ref };
    return withHint(await checkpoints.restore(ref, { session: session.id, force, ...known }));
  });
}

function withHint(restored: Restored | Failure): Restored | Failure {
  if (!isFailure(restored) || restored.code !== "stale-version") return restored;
  return { ...restored, text: `${restored.text} To do it all the same: --force` };
}

function rewindDrafts(
  mark: Mark,
  { options, restored }: { readonly options: RewindOptions; readonly restored: Restored | undefined },
): readonly Draft[] {
  const { conversation } = options;
  const data = { to: mark.seq, undoes: false, conversation, ...filesOf(restored) };
  const rewound: Draft = { type: "session.rewound", data };
  const text = noticeText(mark.step, { conversation, files: restored !== undefined });
  return text === undefined
    ? [rewound]
    : [rewound, { type: "notice.posted", data: { about: "rewound", text } }];
}

/** What the model cannot see by itself: that files and conversation do not fit each other any more. */
function noticeText(
  step: number,
  { conversation, files }: { conversation: boolean; files: boolean },
): string | undefined {
  if (conversation === files) return undefined;
  return files
    ? `The user put the files back to what they were before step ${step}: what was changed since is gone. Read files again before you edit them.`
    : `The user took the conversation back to before step ${step}, but left the files as they are: they may hold changes you do not remember.`;
}

function filesOf(restored: Restored | undefined): { readonly files?: { undo: string; now: string } } {
  return restored ? { files: { undo: restored.undo, now: restored.now } } : {};
}

async function note(log: SessionLog, drafts: readonly Draft[]): Promise<Failure | undefined> {
  const events = await log.append(drafts, { at: systemClock.now(), durable: true });
  return isFailure(events) ? events : undefined;
}
