/** Experiments: what a session was drawn to try, as its log has it. */
import * as v from "valibot";
import { type Limits, limitsSchema } from "../budget.ts";
import { type Effort, effortSchema } from "../effort.ts";

/** What of a model's profile an arm may set. */
export interface ProfileTuning {
  /** How the model is told to work. */
  readonly manner?: string;
  readonly edits?: "str-replace" | "v4a";
  readonly maxOutput?: number;
  readonly windowShare?: number;
  readonly tidyAbove?: number;
  readonly foreignReasoning?: "drop" | "text";
}

/** What an arm sets; nothing in it decides what may be done. */
export interface ArmSettings {
  readonly models?: readonly string[];
  readonly summaryModel?: string;
  readonly effort?: Effort;
  /** They only tighten. */
  readonly limits?: Limits;
  readonly checkpoints?: boolean;
  readonly profile?: ProfileTuning;
}

/** When what an experiment varies is first used: with the first attempt, or the first time a model sums up. */
export const exposureMoments = ["attempt", "summary"] as const;
export type ExposureMoment = (typeof exposureMoments)[number];

/** The arm that a session got of one experiment. */
export interface Assignment {
  readonly experiment: string;
  readonly arm: string;
  /** The probability that each arm had. */
  readonly shares: Readonly<Record<string, number>>;
  /** A print of what all arms set: under the same name another experiment may have been tried before. */
  readonly definition: string;
  readonly moment: ExposureMoment;
  readonly set: ArmSettings;
}

const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
export const sharesSchema: v.GenericSchema<unknown, Assignment["shares"]> = v.record(v.string(), share);
export const momentSchema: v.GenericSchema<unknown, ExposureMoment> = v.picklist(exposureMoments);

export const tuningSchema: v.GenericSchema<unknown, ProfileTuning> = v.strictObject({
  manner: v.exactOptional(v.string()),
  edits: v.exactOptional(v.picklist(["str-replace", "v4a"])),
  maxOutput: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(256))),
  windowShare: v.exactOptional(v.pipe(v.number(), v.minValue(0.1), v.maxValue(0.95))),
  tidyAbove: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1000))),
  foreignReasoning: v.exactOptional(v.picklist(["drop", "text"])),
});

const settings: v.GenericSchema<unknown, ArmSettings> = v.object({
  models: v.exactOptional(v.array(v.string())),
  summaryModel: v.exactOptional(v.string()),
  effort: v.exactOptional(effortSchema),
  limits: v.exactOptional(limitsSchema),
  checkpoints: v.exactOptional(v.boolean()),
  profile: v.exactOptional(tuningSchema),
});

export const assignmentSchema: v.GenericSchema<unknown, Assignment> = v.object({
  experiment: v.string(),
  arm: v.string(),
  shares: sharesSchema,
  definition: v.string(),
  moment: momentSchema,
  set: settings,
});

/** All that the arms of a session say of profiles, the later ones first. */
export function tuningOf(assigned: readonly Assignment[] | undefined): ProfileTuning | undefined {
  if (!assigned?.some(({ set }) => set.profile)) return undefined;
  return Object.assign({}, ...assigned.map(({ set }) => set.profile));
}
