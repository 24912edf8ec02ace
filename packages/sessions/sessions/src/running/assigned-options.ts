/** Assigned options: a session's options with the settings of its experiment arms. */
import { type ArmSettings, type Assignment, lowerLimits } from "@lathe/protocol";
import type { SessionOptions } from "../host/session-options.ts";

/** *Contract:* sets models and effort only for a new session: a resumed one has chosen them already. */
export function withAssigned<T extends SessionOptions>(
  options: T,
  assigned: readonly Assignment[],
  isNew: boolean,
): T {
  if (assigned.length === 0) return options;
  const set: ArmSettings = Object.assign({}, ...assigned.map((one) => one.set));
  const { models, summaryModel, effort, limits, checkpoints } = set;
  return {
    ...options,
    assigned,
    ...(models && isNew && { models }),
    ...(summaryModel !== undefined && { summaryModel }),
    ...(effort && isNew && { effort }),
    ...(limits && { limits: lowerLimits(options.limits, limits) }),
    // An experiment never turns checkpoints on.
    ...(checkpoints !== undefined && { checkpoints: checkpoints && options.checkpoints }),
  };
}
