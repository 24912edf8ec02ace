/** What other agents call tools that edit files: a model is offered those of its own dialect, so each name means all. */
export const editingNames: readonly string[] = [
  "edit",
  "multiedit",
  "write",
  "patch",
  "apply_patch",
  "notebookedit",
];
