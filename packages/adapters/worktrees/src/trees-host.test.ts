/** A trees host for tests: git runs without a sandbox, on the tests' own repositories. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNoneDriver } from "@lathe/sandbox";
import type { Env } from "@lathe/system";
import { openGitBox } from "./git/git-box.ts";
import type { AttemptTreesHost } from "./trees-host.ts";

let made = 0;

export function testTreesHost(
  state: string,
  env: Env = { HOME: state, PATH: process.env.PATH },
): AttemptTreesHost {
  const driver = { ...createNoneDriver(), tier: "full" } as const;
  return {
    state,
    clock: { now: () => Date.now(), random: Math.random, sleep: async () => undefined },
    newId: () => `tree-${process.pid}-${++made}`,
    openGit: (wish) =>
      openGitBox(
        {
          env,
          containment: async () => ({ driver, reasons: [] }),
          scratch: () => {
            const path = mkdtempSync(join(tmpdir(), "lathe-git-scratch-"));
            return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
          },
          hidden: () => [],
          programs: () => env.PATH ?? "",
        },
        wish,
      ),
    journal: (root) => join(state, "workspaces", Buffer.from(root).toString("hex").slice(-24)),
    ownPlaces: () => () => undefined,
    useOf: async () => undefined,
  };
}
