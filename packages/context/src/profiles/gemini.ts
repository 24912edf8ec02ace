/** Gemini: tends to describe instead of doing, and to explain code in comments. */
import { principles } from "./manners.ts";
import type { Profile } from "./profile.ts";

export const gemini: Profile = {
  family: "gemini",
  since: [0, 0],
  edits: "str-replace",
  manner: `${principles}
- Do it with tools instead of describing it, and go on until it is done and verified.
- Write no comments that retell the code or your change.`,
  maxOutput: 32_000,
  windowShare: 0.8,
  foreignReasoning: "drop",
  images: true,
};
