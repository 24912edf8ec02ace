/** Tool names: ours for those that definitions written for other agents use. */

/** All tools that change a file's text: a model is offered those of its own dialect. */
const editing = ["edit", "write", "apply_patch"];

const others: Readonly<Record<string, readonly string[] | undefined>> = {
  Read: ["read"],
  NotebookRead: ["read"],
  Grep: ["grep"],
  Glob: ["find_files"],
  LS: ["list"],
  Bash: ["shell", "process"],
  BashOutput: ["process"],
  KillShell: ["process"],
  Edit: editing,
  MultiEdit: editing,
  Write: editing,
  NotebookEdit: editing,
  TodoWrite: ["todo"],
  Task: ["task"],
  Agent: ["task"],
  AskUserQuestion: ["ask_user"],
  Skill: ["skill"],
  edit: editing,
  write: editing,
  apply_patch: editing,
};

/** What none of ours is like stays as it is, and is nobody's. */
export function toolNames(names: readonly string[]): readonly string[] {
  return [...new Set(names.flatMap((name) => others[name] ?? [name]))];
}
