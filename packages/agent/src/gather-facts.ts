/** Gather facts: what policy needs to know of the world to judge effects. */
import { factsNeeded } from "@lathe/policy";
import { type Effect, type Facts, isFailure, type Mode, type PathFact } from "@lathe/protocol";
import type { AgentPorts, Held } from "./agent.ts";

export async function gatherFacts(
  effects: readonly Effect[],
  mode: Mode,
  ports: Pick<AgentPorts, "workspace" | "containment">,
): Promise<Facts> {
  const needed = factsNeeded(effects);
  const held = needed.containment ? await ports.containment() : unasked;
  const paths = await Promise.all(
    needed.paths.map(async (path): Promise<readonly [string, PathFact]> => {
      const real = await ports.workspace.resolve(path);
      return [path, isFailure(real) ? { real: path, inside: false, failure: real } : { real, inside: true }];
    }),
  );
  return { mode, ...held, paths: Object.fromEntries(paths) };
}

/** Reads and edits need not wait until it is known what holds commands in. */
const unasked: Held = { containment: "none", uncontainedAllowed: false };
