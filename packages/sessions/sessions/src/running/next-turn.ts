/** Next turn: the mode and the effort that a person chose for the following turns. */
import { type Effort, type Mode, type Session, stricterMode } from "@lathe/protocol";
import type { SessionOptions } from "../host/session-options.ts";

type Settings = Session["settings"];

export interface NextTurn {
  mode(): Mode;
  effort(): Effort | undefined;
  /** *Contract:* never looser than the widest mode of the options. */
  setMode(mode: Mode): void;
  /** Undefined: the providers' default. */
  setEffort(effort: Effort | undefined): void;
  /** The settings with the person's choices applied. */
  settings(before: Settings): Settings;
  /** *Contract:* call it when the turn ends. A plan's mode lasts, unless the person chose another. */
  ended(begun: Settings, after: Settings): void;
}

export function nextTurn(options: Pick<SessionOptions, "mode" | "effort" | "widest">): NextTurn {
  let { mode, effort } = options;
  return {
    mode: () => mode,
    effort: () => effort,
    setMode: (asked) => {
      mode = stricterMode(asked, options.widest);
    },
    setEffort: (asked) => {
      effort = asked;
    },
    settings: ({ effort: _, ...before }) => ({ ...before, mode, ...(effort && { effort }) }),
    ended: (begun, after) => {
      if (mode === begun.mode) mode = after.mode;
    },
  };
}
