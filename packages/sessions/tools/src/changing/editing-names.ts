/** Other agents' names of editing tools: a model sees one dialect only, so each name means all of them. */
export const editingNames: readonly string[] = [
  "edit",
  "multiedit",
  "write",
  "patch",
  "apply_patch",
  "notebookedit",
];
