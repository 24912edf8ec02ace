/** `instructions.given`: instructions from the folders of touched files; each folder is checked once. */
import * as v from "valibot";
import { noticeText } from "../notice.ts";
import type { EventType } from "../session/event-type.ts";

export interface InstructionsGiven {
  /** Checked folders below the workspace, including those without instructions. */
  readonly folders: readonly string[];
  readonly texts: readonly { readonly path: string; readonly text: string }[];
}

const schema: v.GenericSchema<unknown, InstructionsGiven> = v.object({
  folders: v.array(v.string()),
  texts: v.array(v.object({ path: v.string(), text: v.string() })),
});

export const instructionsGiven: EventType<"instructions.given", InstructionsGiven> = {
  name: "instructions.given",
  version: 1,
  schema,
  apply: (session, { data: { folders, texts } }) => {
    const instructed = [...session.instructed, ...folders];
    if (texts.length === 0) return { ...session, instructed };
    const parts = texts.map(
      ({ path, text }) => `<instructions path="${path}">\n${text.trim()}\n</instructions>`,
    );
    const text = noticeText(`For files in these folders the project says:\n${parts.join("\n")}`);
    const said = { role: "user", parts: [{ type: "text", text }] } as const;
    return { ...session, instructed, messages: [...session.messages, said] };
  },
};
