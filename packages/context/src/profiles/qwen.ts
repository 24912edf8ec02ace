/** Qwen: often a small one on a machine of one's own, which takes long to read the prompt. */
import { steps } from "./manners.ts";
import type { Profile } from "./profile.ts";

export const qwen: Profile = {
  family: "qwen",
  since: [0, 0],
  edits: "str-replace",
  manner: steps,
  stall: { firstMs: 600_000 },
  maxOutput: 32_000,
  windowShare: 0.7,
  foreignReasoning: "drop",
  images: false,
};
