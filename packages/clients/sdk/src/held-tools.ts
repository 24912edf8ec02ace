/**
 * Held tools: tools that a program brings along, held to their port. They get what they asked for, and what goes wrong in
 * them is a failure of the call alone.
 */
import { isTaken } from "@lathe/hosts/tools";
import {
  causeText,
  type Failure,
  failure,
  isFailure,
  type Outcome,
  type PreparedCall,
  type Tool,
  type ToolContext,
} from "@lathe/protocol";
import { publicSchemas } from "@lathe/protocol/schemas";
import * as v from "valibot";
import { compileJsonSchema, type JsonCheck } from "./json-schema.ts";

/** A failure names the tool whose parameters are no schema. */
export function heldTools(tools: readonly Tool[]): readonly Tool[] | Failure {
  const held: Tool[] = [];
  const names = new Set<string>();
  for (const tool of tools) {
    if (isTaken(tool.name) || names.has(tool.name)) return takenName(tool.name);
    names.add(tool.name);
    const one = heldTool(tool);
    if (isFailure(one)) return one;
    held.push(one);
  }
  return held;
}

function takenName(name: string): Failure {
  const text = `there is a tool ${name} already: give this one another name`;
  return failure("invalid-arguments", text, { who: "user" });
}

function heldTool(tool: Tool): Tool | Failure {
  const { name, description, parameters, freeform } = tool;
  let check: JsonCheck;
  try {
    check = compileJsonSchema(parameters);
  } catch (cause) {
    const text = `the parameters of the tool ${name} are no JSON schema: ${(cause as Error).message}`;
    return failure("invalid-arguments", text, { who: "user", cause });
  }
  return {
    name,
    description,
    parameters,
    ...(freeform && { freeform }),
    prepare: (input) => {
      const problems = check(input);
      if (problems.length > 0) return failure("invalid-arguments", `${name}: ${problems.join("; ")}`);
      try {
        const prepared = tool.prepare(input);
        return isFailure(prepared) ? prepared : heldCall(prepared, name);
      } catch (cause) {
        // What it would do is not known, and it does not do it.
        return thrown(name, cause);
      }
    },
  };
}

/** How much of its result is shown is not the tool's to say. */
function heldCall(prepared: PreparedCall, name: string): PreparedCall {
  const { wholeChars: _, note: _n, ...call } = prepared;
  return { ...call, run: (context) => outcomeOf(prepared, name, context) };
}

async function outcomeOf(prepared: PreparedCall, name: string, context: ToolContext): Promise<Outcome> {
  try {
    const given: unknown = await prepared.run(context);
    // Programs without types return what they like.
    const { success, output } = v.safeParse(publicSchemas.outcome, given);
    return success ? output : { type: "failed", failure: noOutcome(name, given) };
  } catch (cause) {
    return { type: "failed", failure: thrown(name, cause) };
  }
}

function thrown(name: string, cause: unknown): Failure {
  return failure("tool-failed", `${name} threw ${causeText(cause)}`, { who: "tool", cause });
}

function noOutcome(name: string, given: unknown): Failure {
  const text = `${name} returned ${given === undefined ? "nothing" : typeof given}, neither a text nor an outcome; what it did is not known`;
  return failure("tool-failed", text, { who: "tool" });
}
