/** Gemma: small, sees images. */
import { steps } from "./manners.ts";
import type { Profile } from "./profile.ts";

export const gemma: Profile = {
  family: "gemma",
  since: [0, 0],
  edits: "str-replace",
  manner: steps,
  stall: { firstMs: 600_000 },
  maxOutput: 16_000,
  windowShare: 0.7,
  foreignReasoning: "text",
  images: true,
};
