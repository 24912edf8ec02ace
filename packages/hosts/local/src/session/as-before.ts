/** As before: what a session that goes on keeps of what it had. */
import {
  type Effort,
  type Limits,
  lowerLimits,
  type Mode,
  type Session,
  stricterMode,
} from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";

/** What was said for this very run, and not in a file or by a default. */
export interface Said {
  /** Whether the folder was. */
  readonly folder?: boolean;
  readonly mode?: Mode;
  readonly limits?: Limits;
  /** `default`: as the providers have it. */
  readonly effort?: Effort | "default";
}

/** *Contract:* nothing may happen and nothing may be spent that it could not before, unless that was said now. */
export function asBefore<T extends Pick<LocalOptions, "mode" | "limits" | "planner" | "effort">>(
  options: T,
  session: Session,
  said: Said,
): T {
  const { settings } = session;
  // One that has asked no model yet was told nothing: attempts at its task are sessions of their own.
  if (settings.models.length === 0) return options;
  const planner = options.planner ?? settings.planner;
  const before = said.effort === undefined ? settings.effort : undefined;
  const effort = before ?? options.effort;
  return {
    ...options,
    ...(planner !== undefined && { planner }),
    ...(effort && { effort }),
    mode: said.mode === undefined ? stricterMode(options.mode, settings.mode) : options.mode,
    limits: { ...lowerLimits(options.limits, session.limits), ...said.limits },
  };
}
