/** Mistral and its siblings: most do not reason by themselves. */
import { steps } from "./manners.ts";
import type { Profile } from "./profile.ts";

export const mistral: Profile = {
  family: "mistral",
  since: [0, 0],
  edits: "str-replace",
  manner: steps,
  stall: { firstMs: 600_000 },
  maxOutput: 32_000,
  windowShare: 0.7,
  foreignReasoning: "text",
  images: false,
};
