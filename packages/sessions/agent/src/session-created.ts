/** The first event of a session: its prompt is built here once and then pinned. */
import { promptFor, surroundingsText } from "@lathe/context";
import type { Draft } from "@lathe/protocol";
import type { NewSession } from "./agent.ts";

const titleLength = 80;

export function sessionCreated(input: NewSession): Draft<"session.created"> {
  const { id, cwd, task, harness, model, tools, environment, instructions, material, tuning } = input;
  const { role, ...origin } = input.origin ?? {};
  const surroundings = surroundingsText({
    environment,
    instructions,
    ...(material && { material }),
    ...(role !== undefined && { role }),
  });
  const prompt = promptFor(model, { surroundings, tools, tuning });
  return { type: "session.created", data: { id, cwd, title: titleOf(task), harness, prompt, ...origin } };
}

/** The first line of the task, cut at a word. */
function titleOf(task: string): string {
  const line = task.trim().split("\n", 1)[0] ?? "";
  if (line.length <= titleLength) return line;
  return `${line.slice(0, titleLength).replace(/\s+\S*$/, "")}…`;
}
