/** Next turn: what a person chose that holds from there on. */
import { type Effort, type Mode, type Session, stricterMode } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";

type Settings = Session["settings"];

export interface NextTurn {
  mode(): Mode;
  effort(): Effort | undefined;
  /** *Contract:* never looser than the machine's owner lets it be. */
  setMode(mode: Mode): void;
  /** Undefined: as the providers have it. */
  setEffort(effort: Effort | undefined): void;
  /** The settings with what was chosen. */
  settings(before: Settings): Settings;
  /** *Contract:* told when the turn ended: a mode that was agreed to with a plan lasts, unless another was chosen meanwhile. */
  ended(begun: Settings, after: Settings): void;
}

export function nextTurn(options: Pick<LocalOptions, "mode" | "effort" | "widest">): NextTurn {
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
