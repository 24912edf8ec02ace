/** Questions: what the agent wants to know of the person, one after the other, as choices. */

import { type AskedCall, aboutText, answerOf, rulesText } from "@lathe/client";
import type { AskedFile, Walking } from "@lathe/client/walk-hunks";
import {
  allowForProject,
  allowForSession,
  type CallState,
  type EditPart,
  type Event,
  type Failure,
  isSettledBy,
} from "@lathe/protocol";
import type { OpenSession as LocalSession } from "@lathe/sessions";
import type { Theme } from "@lathe/terminal";
import type { Choice, Option } from "@lathe/terminal/choice";

type Asked = Event<"question.asked">["data"] & { readonly seq: number };

/** Who shows them. */
export interface Asking {
  theme(): Theme;
  print(lines: readonly string[]): void;
  /** *Contract:* one at a time; absent: none is open any more. */
  offer(choice: Choice | undefined): void;
  complain(refused: Failure): void;
}

export interface Questions {
  event(event: Event): void;
  /** What was asked before this process had the session. */
  recall(calls: readonly CallState[]): void;
}

export function createQuestions(session: () => LocalSession | undefined, asking: Asking): Questions {
  const open: Asked[] = [];
  let shown: Asked | undefined;
  const answer = async (asked: Asked, words: string, part?: EditPart): Promise<void> => {
    const settled = take(open, (other) => other === asked || isSettledBy(other, asked, words));
    const refused = await session()?.answer(asked.call, asked.seq, words, part);
    // Asked once more when the answer could not be kept.
    if (refused) {
      asking.complain(refused);
      open.unshift(...settled);
    }
    await next();
  };
  const next = async (): Promise<void> => {
    const asked = open[0];
    if (shown || !asked) return;
    shown = asked;
    const call = await session()?.askedCall(asked.call);
    // The turn may have ended meanwhile.
    if (open[0] !== asked) return;
    asking.print(textOf(asked, call, asking.theme()));
    offerAnswers(asked, call);
  };
  const settle = (asked: Asked, words: string, part?: EditPart): void => {
    // Somebody else may have been quicker.
    if (shown !== asked) return;
    shown = undefined;
    asking.offer(undefined);
    void answer(asked, words, part);
  };
  const offerAnswers = (asked: Asked, call: AskedCall): void => {
    const files = call?.hasParts ? call.files : undefined;
    asking.offer({
      options: optionsOf(asked, files),
      takesWords: true,
      resolve: (words) => {
        if (files && words === walks) return void walk(asked, call, files);
        const meaning = words === undefined ? undefined : answerOf(asked, words);
        if (meaning !== undefined) settle(asked, meaning);
      },
    });
  };
  const walk = async (asked: Asked, call: AskedCall, files: readonly AskedFile[]): Promise<void> => {
    const { walkHunks } = await import("@lathe/client/walk-hunks");
    const part = await walkHunks(files, { ...asking, theme: asking.theme(), ask: askWith(asking) });
    if (shown !== asked) return;
    if (part) settle(asked, "allow", part);
    else offerAnswers(asked, call);
  };
  const add = (asked: Asked): void => {
    if (open.some(({ seq }) => seq === asked.seq)) return;
    open.push(asked);
    void next();
  };
  const forget = (gone: (asked: Asked) => boolean): void => {
    const wasShown = shown !== undefined && gone(shown);
    take(open, gone);
    if (!wasShown) return;
    shown = undefined;
    asking.offer(undefined);
    void next();
  };
  return {
    event: (event) => {
      if (event.type === "question.asked") add({ ...event.data, seq: event.seq });
      if (event.type === "turn.ended") forget(() => true);
      // By somebody else.
      if (event.type === "question.answered") forget(({ call }) => call === event.data.call);
    },
    recall: (calls) => {
      for (const { call, asked } of calls) if (asked) add({ ...asked, call: call.id });
    },
  };
}

/** Out of the list, in order. */
function take(open: Asked[], gone: (asked: Asked) => boolean): readonly Asked[] {
  const taken = open.filter(gone);
  const left = open.filter((asked) => !gone(asked));
  open.splice(0, open.length, ...left);
  return taken;
}

/** Whole, however long it is, with what an answer for more than this once would mean: it stays above the options. */
function textOf(asked: Asked, call: AskedCall, theme: Theme): readonly string[] {
  const { rules = [], options } = asked;
  const isLasting = options.includes(allowForSession) && rules.length > 0;
  const means = isLasting
    ? `${theme.dim("for more than this once it would let happen unasked:")}\n${rulesText(rules)}`
    : "";
  return `${aboutText(asked, call, theme)}${means}`.trimEnd().split("\n");
}

/** The answer that means to go through the hunks. */
const walks = "h";

function askWith(asking: Asking): Walking["ask"] {
  return (choice) => new Promise((resolve) => asking.offer({ ...choice, resolve }));
}

function optionsOf({ kind, options }: Asked, files: readonly AskedFile[] | undefined): readonly Option[] {
  if (kind === "question") return options.map((label) => ({ label, value: label }));
  const means: Readonly<Record<string, Option>> = {
    [allowForSession]: { label: "Yes, for this session", about: "what is listed above, unasked", value: "s" },
    [allowForProject]: {
      label: "Yes, for this project",
      about: "the same, also in later sessions",
      value: "p",
    },
  };
  return [
    { label: "Yes, once", value: "y" },
    ...[allowForSession, allowForProject].flatMap((one) => {
      const option = options.includes(one) ? means[one] : undefined;
      return option ? [option] : [];
    }),
    ...(files ? [{ label: "Some of it", about: hunksText(files), value: walks }] : []),
    { label: "No", about: "or type what to do instead", value: "n" },
  ];
}

function hunksText(files: readonly AskedFile[]): string {
  const count = files.reduce((sum, { hunks }) => sum + hunks.length, 0);
  return `go through its ${count} hunks${files.length > 1 ? ` in ${files.length} files` : ""}`;
}
