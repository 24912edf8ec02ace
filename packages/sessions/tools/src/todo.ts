/** `todo`: the model's list of tasks, shown to the user. */
import type { Tool } from "@lathe/protocol";
import * as v from "valibot";
import { defineTool, ok } from "./define-tool.ts";
import { text } from "./schema.ts";

export const todo: Tool = defineTool({
  name: "todo",
  knownAs: ["todowrite", "todoread"],
  description: "Set the whole list of steps of a longer task, shown to the user; keep it current.",
  schema: { todos: v.array(v.object({ text: text(), state: v.picklist(["open", "doing", "done"]) })) },
  counterpart: (input) => ({ tool_name: "TodoWrite", tool_input: input }),
  effects: () => [],
  async run({ todos }) {
    const done = todos.filter((one) => one.state === "done").length;
    return ok(`${done} of ${todos.length} done.`, { todos });
  },
});
