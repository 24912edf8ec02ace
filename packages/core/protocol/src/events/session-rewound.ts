/** `session.rewound`: the files, the conversation or both were rewound, or a rewind was undone. */
import * as v from "valibot";
import { halfOpened } from "../session/circuit.ts";
import type { EventType } from "../session/event-type.ts";
import { conversationOf, rewindConversation } from "../session/marks.ts";
import { brokenBy } from "../session/sent-prompts.ts";

export interface SessionRewound {
  /** `seq` of the mark to rewind to; if it undoes a rewind, the `seq` of that rewind. */
  readonly to: number;
  readonly undoes: boolean;
  readonly conversation: boolean;
  /** Checkpoints before and after, if files were rewound. */
  readonly files?: { readonly undo: string; readonly now: string };
}

const schema: v.GenericSchema<unknown, SessionRewound> = v.object({
  to: v.number(),
  undoes: v.boolean(),
  conversation: v.boolean(),
  files: v.exactOptional(v.object({ undo: v.string(), now: v.string() })),
});

export const sessionRewound: EventType<"session.rewound", SessionRewound> = {
  name: "session.rewound",
  version: 1,
  schema,
  apply: (session, { data, seq, at }) => {
    const { files, conversation, undoes, to } = data;
    const back = conversation ? rewindConversation(session, { to, undoes }) : session;
    const after = files ? [{ seq, moment: "after", ref: files.now } as const] : [];
    return {
      ...back,
      circuits: conversation ? halfOpened(back.circuits, at) : back.circuits,
      ...(conversation && { prompts: brokenBy(back.prompts, "rewound") }),
      checkpoints: [...session.checkpoints, ...after],
      rewind: {
        seq,
        ...(undoes && { isUndo: true as const }),
        ...(conversation && { conversation: conversationOf(session) }),
        ...(files && { files: files.undo }),
      },
    };
  },
};
