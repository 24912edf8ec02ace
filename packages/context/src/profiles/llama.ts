/** Llama: does not reason by itself. */
import { steps } from "./manners.ts";
import type { Profile } from "./profile.ts";

export const llama: Profile = {
  family: "llama",
  since: [0, 0],
  edits: "str-replace",
  manner: steps,
  stall: { firstMs: 600_000 },
  maxOutput: 16_000,
  windowShare: 0.7,
  foreignReasoning: "text",
  images: false,
};
