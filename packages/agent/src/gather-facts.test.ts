/** What is looked up before calls are judged. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { type Effect, type Failure, failure, type Workspace } from "@lathe/protocol";
import { gatherFacts } from "./gather-facts.ts";

const circle = failure("no-access", "circle leads through a circle of symbolic links.");

/** A workspace of which only `resolve` is asked. */
function workspaceWith(real: Readonly<Record<string, string | Failure>>): Workspace {
  return { resolve: async (path: string) => real[path] ?? path } as Workspace;
}

const holding = { containment: "full", uncontainedAllowed: false } as const;

it("waits until it is known what holds a command in, and only for a command", async () => {
  let looks = 0;
  const ports = {
    workspace: workspaceWith({}),
    containment: async () => {
      looks++;
      await new Promise((resolve) => setImmediate(resolve));
      return holding;
    },
  };
  const read = await gatherFacts([{ kind: "read", target: "a" }], "auto", ports);
  assert.deepEqual([read.containment, looks], ["none", 0]);
  const execute = await gatherFacts([{ kind: "execute", target: "npm test" }], "auto", ports);
  assert.deepEqual([execute.containment, looks], ["full", 1]);
});

it("looks up targets and names, and carries why one cannot be reached", async () => {
  const effects: readonly Effect[] = [
    { kind: "execute", target: "cat link", names: ["link", "a\\*", "s*"] },
    { kind: "write", target: "circle" },
    { kind: "delete", target: "$x", expansion: "unknown" },
  ];
  const workspace = workspaceWith({ link: ".env", circle });
  const { paths } = await gatherFacts(effects, "auto", { workspace, containment: async () => holding });
  assert.deepEqual(paths, {
    link: { real: ".env", inside: true },
    "a*": { real: "a*", inside: true },
    "s*": { real: "s*", inside: true },
    circle: { real: "circle", inside: false, failure: circle },
  });
});
