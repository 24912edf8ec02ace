/** `skill`: loads the text of a skill that the project or the user defined. */
import type { Tool, ToolIdentity } from "@lathe/protocol";
import * as v from "valibot";
import { defineTool, ok } from "./define-tool.ts";

export interface Skill {
  readonly name: string;
  /** One line: when to use it; empty for a skill that is listed by name only. */
  readonly about: string;
  /** The folder of its other files. */
  readonly folder: string;
  readonly body: string;
}

export const skillIdentity: ToolIdentity = { name: "skill", knownAs: ["skill"] };

/** Undefined if there are no skills. */
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
