/** Small models: who does what a large one is too dear for, as far as the user wants that. */
import type { Models, Ports } from "@lathe/protocol";
import type { LocalOptions } from "../local-options.ts";
import { secondOpinion } from "./second-opinion.ts";

export function smallModels(
  options: Pick<LocalOptions, "secondOpinion" | "summaryModel">,
  models: Models,
  redact: (text: string) => Promise<string>,
): Pick<Ports, "secondOpinion" | "summaryModel"> {
  const { summaryModel } = options;
  return {
    ...secondOpinion(options, models, redact),
    ...(summaryModel !== undefined && { summaryModel }),
  };
}
