/** `skill`: loads what a skill says, of those that the project and the user wrote down. */
import type { Tool } from "@lathe/protocol";
import * as v from "valibot";
import { defineTool, ok } from "./define-tool.ts";

export interface Skill {
  readonly name: string;
  /** One line: when to use it. */
  readonly about: string;
  /** Where its other files are. */
  readonly folder: string;
  readonly body: string;
}

/** Undefined where there are none. */
export function createSkill(skills: readonly Skill[]): Tool | undefined {
  const [first, ...others] = skills.map(({ name }) => name);
  if (first === undefined) return undefined;
  const list = skills.map(({ name, about }) => `${name}: ${about}`).join("\n");
  return defineTool({
    name: "skill",
    description: `Load a skill's instructions before work that its line fits.\n${list}`,
    schema: { name: v.picklist([first, ...others]) },
    effects: () => [],
    async run({ name }) {
      const skill = skills.find((one) => one.name === name);
      return ok(`${skill?.body.trim() ?? ""}\n\n[the skill's files are in ${skill?.folder ?? ""}]`);
    },
  });
}
