/** The drafts of a rewind: the open turn ended, the rewind, and what the model has to be told of it. */
import { type Draft, failure, type RestoreResult, type Rewind, type Session } from "@lathe/protocol";
import { abandonTurn } from "../session/abandon.ts";
import type { RewindParts, Target } from "./target.ts";

export interface Done {
  readonly parts: RewindParts;
  /** Absent when the files were left alone. */
  readonly restored: RestoreResult | undefined;
}

export function rewindDrafts(session: Session, target: Target, { parts, restored }: Done): readonly Draft[] {
  const { conversation } = parts;
  const data = { to: target.mark.seq, undoes: false, conversation, ...filesOf(restored) };
  return [...ended(session), { type: "session.rewound", data }, ...notice(apart(target, parts))];
}

/** Both parts that went back come again; what the conversation was told of the files is in it. */
export function undoDrafts(
  session: Session,
  { seq, conversation }: Rewind,
  restored: RestoreResult | undefined,
): readonly Draft[] {
  const data = { to: seq, undoes: true, conversation: conversation !== undefined, ...filesOf(restored) };
  const text =
    restored && !conversation
      ? "The user took the last rewind of the files back: they are again as they were before it. Read files again before you edit them."
      : undefined;
  return [...ended(session), { type: "session.rewound", data }, ...notice(text)];
}

/** Its calls get results and its reservation is settled, so that the conversation is valid when it comes back. */
function ended(session: Session): readonly Draft[] {
  return abandonTurn(session, failure("cancelled", "the session was taken back while this turn was open"));
}

/** What the model cannot see by itself: that files and conversation do not fit each other any more. */
function apart({ mark, isThere }: Target, { files, conversation }: RewindParts): string | undefined {
  if (conversation === files || (conversation && isThere)) return undefined;
  return files
    ? `The user put the files back to what they were before step ${mark.step}: what was changed since is gone. Read files again before you edit them.`
    : `The user took the conversation back to before step ${mark.step}, but left the files as they are: they may hold changes you do not remember.`;
}

function notice(text: string | undefined): readonly Draft[] {
  return text === undefined ? [] : [{ type: "notice.posted", data: { about: "rewound", text } }];
}

function filesOf(restored: RestoreResult | undefined): { readonly files?: { undo: string; now: string } } {
  return restored ? { files: { undo: restored.undo, now: restored.now } } : {};
}
