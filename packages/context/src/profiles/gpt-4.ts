/** GPT-4 and the o-series: take instructions literally, write V4A patches, as JSON only. */
import { literal } from "./manners.ts";
import type { Profile } from "./profile.ts";

export const gpt4: Profile = {
  family: "gpt",
  since: [0, 0],
  edits: "v4a",
  manner: literal,
  maxOutput: 32_000,
  windowShare: 0.8,
  foreignReasoning: "drop",
  images: true,
};
