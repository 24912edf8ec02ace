/** The flags for a git worktree of the session's own. */

export const worktreeFlags = {
  worktree: {
    type: "boolean",
    optional: true,
    value: "NAME",
    about:
      "work in a git working tree on a branch of its own (lathe/NAME), kept when something changed; with --best-of one for each attempt",
  },
  base: { type: "string", value: "REF", about: "--worktree: begin at this commit (default HEAD)" },
  dirty: {
    type: "string",
    value: "WHAT",
    values: ["carry", "leave", "refuse"],
    about:
      "--worktree, --best-of: uncommitted changes: carry, leave or refuse (default: carry; with --base: leave)",
  },
} as const;
