/** `/rewind`: files and conversation go back to before something was said. */
import { isFailure, messageText, type Session } from "@lathe/protocol";
import { usage } from "../../run/run-options.ts";
import { rewoundLines } from "../../sessions/rewound-lines.ts";
import { atWork } from "../at-work.ts";
import type { Option } from "../choice.ts";
import { noSession } from "./no-session.ts";
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
    const { rewindSession, undoRewind } = await import("@lathe/hosts/rewind-session");
    const isUndo = given.includes("undo");
    const options = moments(session.session());
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
    return refused ?? ["", ...told, ...(isUndo ? [] : [chat.theme.dim("Take it back: /rewind undo")])];
  },
};

/** The newest first; a step that begins a turn has its words. */
function moments({ marks, messages }: Session): readonly Option[] {
  return marks.toReversed().map(({ step, opens, said }) => {
    const message = opens ? messages[said] : undefined;
    const words = message ? messageText(message.parts).replace(/\s+/g, " ") : "";
    return { label: `step ${step}`, about: words, value: String(step) };
  });
}
