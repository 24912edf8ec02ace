/** Exposures: the experiments of a session whose varied setting is about to be used for the first time. */
import type { Draft, ExposureMoment, Session } from "@lathe/protocol";

export function exposures(
  { settings: { experiments = [] }, exposed = [] }: Pick<Session, "settings" | "exposed">,
  moment: ExposureMoment,
): readonly Draft[] {
  return experiments
    .filter((one) => one.moment === moment && !exposed.includes(one.experiment))
    .map(({ set: _, ...data }) => ({ type: "experiment.exposed", data }));
}
