/** `/rewind`: rewinds files and conversation to before a message. */

import { noSession, rewoundLines } from "@lathe/client";
import { usage } from "@lathe/config";
import { isFailure, isNotice, messageText, type Session, withoutMark } from "@lathe/protocol";
import type { Option } from "@lathe/terminal/choice";
import { atWork } from "../at-work.ts";
import type { SlashCommand } from "./slash-command.ts";

const parts: readonly Option[] = [
  { label: "Files and conversation", value: "both" },
  { label: "Only the conversation", value: "conversation" },
  { label: "Only the files", value: "files" },
];

export const rewindCommand: SlashCommand = {
  name: "rewind",
  usage: "[undo] [--force]",
  about: "files and conversation go back to before a step; undo brings them back",
  run: async (chat, words) => {
    const { session } = chat;
    if (!session) return noSession;
    const given = words.split(/\s+/).filter((word) => word !== "");
    const unknown = given.find((word) => word !== "undo" && word !== "--force");
    if (unknown !== undefined) return usage(`/rewind takes undo and --force, not ${unknown}`);
    if (chat.isWorking) return atWork;
    const { rewindSession, undoRewind } = await import("@lathe/hosts/stored");
    const isUndo = given.includes("undo");
    const before = session.session();
    const options = moments(before);
    if (!isUndo && options.length === 0) return ["There is nothing to go back to yet."];
    const step = isUndo ? "" : await chat.choose("Back to before which step?", options);
    const what = step === undefined || isUndo ? "both" : await chat.choose("What goes back?", parts);
    if (step === undefined || what === undefined) return undefined;
    const { id } = session;
    const manner = { force: given.includes("--force"), onRemark: (text: string) => chat.complain(text) };
    const which = { files: what !== "conversation", conversation: what !== "files" };
    let told: readonly string[] = [];
    const refused = await chat.switchTo(async () => {
      const { env } = chat.options;
      const rewound = isUndo
        ? await undoRewind(env, id, manner)
        : await rewindSession(env, id, { ...which, ...manner, to: Number(step) });
      if (isFailure(rewound)) return rewound;
      told = rewoundLines(rewound, { parts: which, isUndo, paint: chat.theme });
      return id;
    });
    if (refused) return refused;
    const said = wordsAt(before, Number(step));
    if (which.conversation && !isUndo && !isNotice(said)) chat.redraft(said);
    return ["", ...told, ...(isUndo ? [] : [chat.theme.dim("Take it back: /rewind undo")])];
  },
};

/** The steps, newest first. */
function moments(session: Session): readonly Option[] {
  return session.marks.toReversed().map(({ step }) => {
    const about = withoutMark(wordsAt(session, step)).replace(/\s+/g, " ");
    return { label: `step ${step}`, about, value: String(step) };
  });
}

/** The message that began a turn at this step; the rewind removes it too. */
function wordsAt({ marks, messages }: Session, step: number): string {
  const mark = marks.findLast((one) => one.step === step);
  const message = mark?.opens ? messages[mark.said] : undefined;
  return message ? messageText(message.parts) : "";
}
