/** The profiles: one entry for each family of models, and for the versions that differ. */
import type { Profile } from "./profile.ts";

/** For models that infer intent: principles, and reasons. */
const principles = `How to work
- Look before you change: find the code with grep, find_files and read; never guess what a file holds.
- Call several tools at once when they do not depend on each other.
- Make the smallest change that solves the task in the style of the code around it. Leave unrelated code alone.
- Find causes, not symptoms. Never weaken, skip or delete a test to make it pass unless the user asks for exactly that.
- Verify: run the project's tests, type checker or the program itself after changing it, and read what it prints. Say so when you could not.
- When something fails, read why and change your approach; do not repeat a call that failed.`;

/** For models that take each sentence literally: steps, their order, when to stop, and priorities. */
const literal = `Procedure
1. Find the code that matters with grep, find_files and read. Send independent calls together in one answer. Do not state what a file holds before you have read it.
2. Change files with apply_patch only, never through shell. Keep the patch as small as the task allows, in the style of the code around it. After a patch was applied do not read the file again to check it.
3. Run the project's tests, type checker or the program after the last change and read what is printed. If something fails because of your change, go back to 1. If you could not run anything, write that in your answer.
4. When the task is done and checked, answer. Until then do not stop, do not hand back a plan and do not ask whether to go on.

Rules
- Do exactly what was asked, all of it and nothing beside it. Do not touch unrelated code, and do not add comments, files or options nobody asked for.
- Do not weaken, skip or delete a test to make it pass, unless the user asks for exactly that.
- If a call failed, do not send the same call again: read the reason and change it.
- If instructions contradict each other, the user's latest words come first, then the project's instructions, then these.`;

/** For models that work better with few, plain, short steps. */
const steps = `How to work, step by step
1. Find the code: grep or find_files, then read. Never guess what a file holds.
2. Read a file before you edit it. Copy the old text of an edit exactly as read shows it, without the line numbers, and long enough to be found once.
3. Make the smallest change that solves the task. Leave other code alone. Never weaken or delete a test to make it pass.
4. Run the tests or the program with shell and read the output. If it fails, find out why and change something; do not repeat the same call.
5. When it works, stop calling tools and answer.

The arguments of a call are one JSON object with the names the tool gives. To do something, call the tool; text about a call does nothing.`;

/** A large model, served by its maker. */
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

/** Often a small model on the user's machine, which reads the prompt slowly. */
const own: Omit<Profile, "family"> = {
  ...served,
  manner: steps,
  stall: { firstMs: 600_000 },
  windowShare: 0.7,
  tidyAbove: 32_000,
};

/** For unknown families. */
export const other: Profile = { ...served, family: "other", windowShare: 0.75 };

/** Ordered by version within each family, oldest first. */
export const profiles: readonly Profile[] = [
  // Tolerates loose instructions.
  { ...served, family: "claude", images: true },
  // Does more than was asked, unless the prompt says where the task ends.
  {
    ...served,
    family: "claude",
    since: [5, 0],
    images: true,
    manner: `${principles}
- The task ends where the user's words end: no clean-up, no compatibility layer, no document that nobody asked for.`,
  },
  // Includes the o-series: takes instructions literally, writes V4A patches, only as JSON.
  { ...served, family: "gpt", edits: "v4a", manner: literal, images: true },
  // Writes raw patches without JSON, and counts its reasoning as output.
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
  // Tends to describe instead of acting, and to explain code in comments.
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
  // Most of these have no reasoning of their own.
  { ...own, family: "mistral", foreignReasoning: "text" },
  { ...own, family: "llama", maxOutput: 16_000, foreignReasoning: "text" },
  { ...own, family: "gemma", maxOutput: 16_000, foreignReasoning: "text", images: true },
  other,
];
