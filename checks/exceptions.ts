/**
 * Packages that still break a rule about their shape, and how often. A number may only fall: the check fails
 * if a package does better than its number, until the number is lowered.
 */
export type Exceptions = Readonly<
  Record<"folder-cycle" | "export-paths" | "dodged-cap" | "tool-name", Readonly<Record<string, number>>>
>;

export const exceptions: Exceptions = {
  "folder-cycle": {},
  "export-paths": {},
  "dodged-cap": {
    "apps/cli": 1,
  },
  // Code that reads logs below the tools package, and a model that names tools like any other.
  "tool-name": {
    "packages/core/context": 5,
    "packages/measure/telemetry": 1,
    "packages/repair": 20,
  },
};

/** How many private phrases (`words.ts`) the comments and texts of a folder still have. A number may only fall. */
export const privateWords: Readonly<Record<string, number>> = {
  "apps/cli": 29,
  e2e: 31,
  "packages/adapters/diagnostics": 3,
  "packages/adapters/mcp": 1,
  "packages/adapters/models": 5,
  "packages/adapters/overlays": 5,
  "packages/adapters/sandbox": 8,
  "packages/adapters/search": 6,
  "packages/adapters/stores": 3,
  "packages/adapters/workspace": 8,
  "packages/adapters/worktrees": 6,
  "packages/clients/acp": 2,
  "packages/clients/client": 5,
  "packages/clients/config": 1,
  "packages/clients/sdk": 3,
  "packages/clients/terminal": 1,
  "packages/core/context": 12,
  "packages/core/edits": 3,
  "packages/core/orchestrator": 22,
  "packages/core/protocol": 10,
  "packages/hosts/local": 27,
  "packages/measure/evals": 5,
  "packages/measure/keep-rate": 3,
  "packages/measure/telemetry": 4,
  "packages/repair": 3,
  "packages/sessions/agent": 4,
  "packages/sessions/attempts": 4,
  "packages/sessions/extensions": 7,
  "packages/sessions/sessions": 3,
  "packages/sessions/tools": 16,
  "packages/testkit": 5,
  scripts: 2,
};
