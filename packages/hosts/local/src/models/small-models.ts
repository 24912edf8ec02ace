/** Small models: who does what a large one is too dear for, as far as the user wants that. */
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
