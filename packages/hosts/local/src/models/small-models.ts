/** Small models: the cheap models for tasks that do not need a large one, as the user configured them. */
import { createSecondOpinion } from "@lathe/models";
import type { Models, Ports } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";

export function smallModels(
  options: Pick<LocalOptions, "secondOpinion" | "summaryModel">,
  models: Models,
  redact: (text: string) => Promise<string>,
): Pick<Ports, "secondOpinion" | "summaryModel"> {
  const { secondOpinion, summaryModel } = options;
  return {
    ...(secondOpinion !== undefined && {
      secondOpinion: createSecondOpinion(secondOpinion, models, redact),
    }),
    ...(summaryModel !== undefined && { summaryModel }),
  };
}
