/** The facts that are gathered before calls are judged. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { type Effect, type Failure, failure, type PolicyEnvironment, type Workspace } from "@lathe/protocol";
import { gatherFacts } from "./gather-facts.ts";

const circle = failure("no-access", "circle leads through a circle of symbolic links.");

/** A workspace that implements only `resolve`. */
function workspaceWith(real: Readonly<Record<string, string | Failure>>): Workspace {
  return { resolve: async (path: string) => real[path] ?? path } as Workspace;
}

const asking = { mode: "auto", keepsFiles: true, refusals: [] } as const;
const surroundings: PolicyEnvironment = {
  exists: async (path) => path !== "gone",
  text: async (path) => ({ path, text: undefined, digest: null }),
  gitAliases: async () => ({}),
  uncovered: async () => ["data/"],
  unsaved: async () => false,
};
const holding = { containment: "full", uncontainedAllowed: false } as const;
const containment = async () => holding;

it("waits for the containment of commands, and only for a command", async () => {
  let looks = 0;
  const ports = {
    workspace: workspaceWith({}),
    containment: async () => {
      looks++;
      await new Promise((resolve) => setImmediate(resolve));
      return holding;
    },
    surroundings,
  };
  const read = await gatherFacts([{ kind: "read", target: "a" }], asking, ports);
  assert.deepEqual([read.containment, looks], ["none", 0]);
  const execute = await gatherFacts([{ kind: "execute", target: "npm test" }], asking, ports);
  assert.deepEqual([execute.containment, looks], ["full", 1]);
});

it("resolves targets and names, and reports why one cannot be resolved", async () => {
  const effects: readonly Effect[] = [
    { kind: "execute", target: "cat link", names: ["link", "a\\*", "s*"] },
    { kind: "write", target: "circle" },
    { kind: "delete", target: "$x", expansion: "unknown" },
  ];
  const workspace = workspaceWith({ link: ".env", circle });
  const { paths } = await gatherFacts(effects, asking, { workspace, containment, surroundings });
  assert.deepEqual(paths, {
    link: { real: ".env", inside: true },
    "a*": { real: "a*", inside: true },
    "s*": { real: "s*", inside: true },
    circle: { real: "circle", inside: false, failure: circle },
  });
});

it("asks which files may be lost only if some may be, and only with checkpoints", async () => {
  const ports = { workspace: workspaceWith({}), containment, surroundings };
  const deleting: readonly Effect[] = [
    { kind: "delete", target: "gone" },
    { kind: "write", target: "a", traits: ["destroys"] },
    { kind: "write", target: "b" },
  ];
  const kept = await gatherFacts(deleting, asking, ports);
  assert.deepEqual(kept.uncovered, ["data/"]);
  assert.deepEqual(
    ["gone", "a", "b"].map((path) => kept.paths[path]?.absent),
    [true, undefined, undefined],
  );
  const unkept = await gatherFacts(deleting, { ...asking, keepsFiles: false }, ports);
  assert.equal(unkept.uncovered, undefined);
  assert.equal((await gatherFacts([{ kind: "read", target: "a" }], asking, ports)).uncovered, undefined);
});

it("asks about unsaved work only if a command may discard it", async () => {
  const ports = { workspace: workspaceWith({}), containment, surroundings };
  const reset: Effect = { kind: "vcs", target: "git reset --hard", traits: ["local", "discards"] };
  const { unsaved, uncovered } = await gatherFacts([reset], asking, ports);
  assert.deepEqual([unsaved, uncovered], [false, ["data/"]]);
  const commit: Effect = { kind: "vcs", target: "git commit", traits: ["local"] };
  assert.equal((await gatherFacts([commit], asking, ports)).unsaved, undefined);
});

it("reports whether git would take the folder of a written file for a repository", async () => {
  const there = new Set(["HEAD", "sub/HEAD"]);
  const ports = {
    workspace: workspaceWith({ "link/config": "sub/config" }),
    containment,
    surroundings: { ...surroundings, exists: async (path: string) => there.has(path) },
  };
  const write = (target: string): Effect => ({ kind: "write", target });
  const names = ["config", "sub/hooks/a/b", "link/config", "sub/OBJECTS/x", "other/config", "sub/src/a.ts"];
  const { paths } = await gatherFacts(
    [...names.map(write), { kind: "read", target: "sub/refs" }],
    asking,
    ports,
  );
  assert.deepEqual(
    [...names, "sub/refs"].map((name) => paths[name]?.repository),
    ["", "sub", "sub", "sub", undefined, undefined, undefined],
  );
});
