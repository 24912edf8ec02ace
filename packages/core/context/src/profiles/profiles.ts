/** The profiles: one entry for each family of models, and for the versions that differ. */
import { literal, principles, steps } from "./manners.ts";
import type { Profile } from "./profile.ts";

/** A large model, as its maker serves it. */
const served: Omit<Profile, "family"> = {
  since: [0, 0],
  edits: "str-replace",
  manner: principles,
  maxOutput: 32_000,
  windowShare: 0.8,
  tidyAbove: 44_000,
  foreignReasoning: "drop",
  images: false,
};

/** Often a small one on a machine of one's own, which takes long to read the prompt. */
const own: Omit<Profile, "family"> = {
  ...served,
  manner: steps,
  stall: { firstMs: 600_000 },
  windowShare: 0.7,
  tidyAbove: 32_000,
};

/** Of no known family. */
export const other: Profile = { ...served, family: "other", windowShare: 0.75 };

/** Of each family the oldest first. */
export const profiles: readonly Profile[] = [
  // Tolerates loose instructions.
  { ...served, family: "claude", images: true },
  // Does more by itself than was asked, unless it is told where the task ends.
  {
    ...served,
    family: "claude",
    since: [5, 0],
    images: true,
    manner: `${principles}
- The task ends where the user's words end: no clean-up, no compatibility layer, no document that nobody asked for.`,
  },
  // The o-series too: takes instructions literally, writes V4A patches, as JSON only.
  { ...served, family: "gpt", edits: "v4a", manner: literal, images: true },
  // Writes a patch as it is, without JSON, and counts its reasoning as output.
  {
    ...served,
    family: "gpt",
    since: [5, 0],
    edits: "v4a",
    freeform: true,
    manner: literal,
    maxOutput: 64_000,
    images: true,
  },
  // OpenAI's open weights, trained on the same patches.
  { ...own, family: "gpt-oss", edits: "v4a", manner: literal, maxOutput: 16_000 },
  // Tends to describe instead of doing, and to explain code in comments.
  {
    ...served,
    family: "gemini",
    images: true,
    manner: `${principles}
- Do it with tools instead of describing it, and go on until it is done and verified.
- Write no comments that retell the code or your change.`,
  },
  { ...served, family: "grok", images: true },
  { ...served, family: "kimi" },
  { ...served, family: "glm" },
  { ...served, family: "minimax" },
  { ...served, family: "deepseek" },
  { ...own, family: "qwen" },
  // Most of these do not reason by themselves.
  { ...own, family: "mistral", foreignReasoning: "text" },
  { ...own, family: "llama", maxOutput: 16_000, foreignReasoning: "text" },
  { ...own, family: "gemma", maxOutput: 16_000, foreignReasoning: "text", images: true },
  other,
];
