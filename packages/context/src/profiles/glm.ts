/** GLM, as Z.ai serves it. */
import { principles } from "./manners.ts";
import type { Profile } from "./profile.ts";

export const glm: Profile = {
  family: "glm",
  since: [0, 0],
  edits: "str-replace",
  manner: principles,
  maxOutput: 32_000,
  windowShare: 0.8,
  foreignReasoning: "drop",
  images: false,
};
