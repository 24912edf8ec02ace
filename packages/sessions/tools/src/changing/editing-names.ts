/**
 * Names of editing tools in other agents: a model sees only the tools of its own dialect, so each name means
 * all of them.
 */
export const editingNames: readonly string[] = [
  "edit",
  "multiedit",
  "write",
  "patch",
  "apply_patch",
  "notebookedit",
];
