/** Opens a text in the person's own terminal editor. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { causeText, type Failure, failure } from "@lathe/protocol";
import type { Env } from "@lathe/system";
import { hostProgramPath } from "@lathe/system";

/** The command, which may have arguments: `code --wait`. */
function editorOf({ VISUAL, EDITOR }: Env): string | undefined {
  return [VISUAL, EDITOR].find((one) => one !== undefined && one.trim() !== "");
}

/**
 * *Contract:* lends the terminal to the editor until it resolves with the edited text, without the line break
 * at its end, or a failure. It leaves no file behind.
 */
export async function editText(text: string, env: Env): Promise<string | Failure> {
  const editor = editorOf(env);
  if (editor === undefined) return refused("no editor is chosen: set VISUAL or EDITOR, as git has it");
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(tmpdir(), "lathe-prompt-"));
    const file = join(folder, "prompt.md");
    await writeFile(file, text, { mode: 0o600 });
    const problem = await edited(editor, file, env);
    return problem ?? (await readFile(file, "utf8")).replace(/(?:\r?\n)+$/, "");
  } catch (cause) {
    return refused(`the text could not be given to the editor: ${causeText(cause)}`);
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** Starts the editor the way git does. */
async function edited(editor: string, file: string, env: Env): Promise<Failure | undefined> {
  const child = spawn("/bin/sh", ["-c", `${editor} "$@"`, editor, file], {
    env: { ...env, PATH: hostProgramPath(env) },
    stdio: "inherit",
  });
  const [code, signal] = await once(child, "exit");
  if (code === 0) return undefined;
  return refused(`${editor} ended with ${signal ?? `exit ${code}`}: what was typed stays as it was`);
}

function refused(text: string): Failure {
  return failure("tool-failed", text, { who: "user" });
}
