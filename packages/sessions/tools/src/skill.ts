/** `skill`: loads what a skill says, of those that the project and the user wrote down. */
import type { Tool, ToolIdentity } from "@lathe/protocol";
import * as v from "valibot";
import { defineTool, ok } from "./define-tool.ts";

export interface Skill {
  readonly name: string;
  /** One line: when to use it; empty for one that is listed by its name alone. */
  readonly about: string;
  /** Where its other files are. */
  readonly folder: string;
  readonly body: string;
}

export const skillIdentity: ToolIdentity = { name: "skill", knownAs: ["skill"] };

/** Undefined where there are none. */
export function createSkill(skills: readonly Skill[]): Tool | undefined {
  const [first, ...others] = skills.map(({ name }) => name);
  if (first === undefined) return undefined;
  const lines = skills.flatMap(({ name, about }) => (about === "" ? [] : [`${name}: ${about}`]));
  const more = skills.flatMap(({ name, about }) => (about === "" ? [name] : []));
  const list = [...lines, ...(more.length > 0 ? [`Also: ${more.join(", ")}`] : [])].join("\n");
  return defineTool({
    ...skillIdentity,
    description: `Load a skill's instructions before work that its line fits.\n${list}`,
    schema: { name: v.picklist([first, ...others]) },
    counterpart: ({ name }) => ({ tool_name: "Skill", tool_input: { skill: name } }),
    effects: () => [],
    async run({ name }) {
      const skill = skills.find((one) => one.name === name);
      return ok(`${skill?.body.trim() ?? ""}\n\n[the skill's files are in ${skill?.folder ?? ""}]`);
    },
  });
}
