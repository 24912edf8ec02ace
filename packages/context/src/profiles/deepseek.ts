/** DeepSeek: large where it is served, small where it is distilled. */
import { principles } from "./manners.ts";
import type { Profile } from "./profile.ts";

export const deepseek: Profile = {
  family: "deepseek",
  since: [0, 0],
  edits: "str-replace",
  manner: principles,
  maxOutput: 32_000,
  windowShare: 0.8,
  foreignReasoning: "drop",
  images: false,
};
