/** Experiments: the arms that a session was assigned, as recorded in its log. */
import * as v from "valibot";
import { type Limits, limitsSchema } from "../budget.ts";
import { type Effort, effortSchema } from "../effort.ts";

/** The parts of a model's profile that an arm may set. */
export interface ProfileTuning {
  /** The working style that the prompt asks for. */
  readonly manner?: string;
  readonly edits?: "str-replace" | "v4a";
  readonly maxOutput?: number;
  readonly windowShare?: number;
  readonly tidyAbove?: number;
  readonly foreignReasoning?: "drop" | "text";
}

/** The settings of an arm; none of them decides what is allowed. */
export interface ArmSettings {
  readonly models?: readonly string[];
  readonly summaryModel?: string;
  readonly effort?: Effort;
  /** Limits can only get stricter. */
  readonly limits?: Limits;
  readonly checkpoints?: boolean;
  readonly profile?: ProfileTuning;
}

/** When the varied setting is first used: with the first attempt, or with the first summary. */
export const exposureMoments = ["attempt", "summary"] as const;
export type ExposureMoment = (typeof exposureMoments)[number];

/** The arm of one experiment that a session was assigned. */
export interface Assignment {
  readonly experiment: string;
  readonly arm: string;
  /** The probability of each arm. */
  readonly shares: Readonly<Record<string, number>>;
  /** A fingerprint of all arms' settings, since an earlier experiment may have had the same name. */
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

/** The combined profile settings of a session's arms; later ones win. */
export function tuningOf(assigned: readonly Assignment[] | undefined): ProfileTuning | undefined {
  if (!assigned?.some(({ set }) => set.profile)) return undefined;
  return Object.assign({}, ...assigned.map(({ set }) => set.profile));
}
