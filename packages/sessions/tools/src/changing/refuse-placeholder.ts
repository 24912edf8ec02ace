/** Refuse placeholder: a redaction's placeholder is never written over the secret it replaces. */
import { type Failure, failure, isFailure, placeholdersIn, type ToolContext } from "@lathe/protocol";

/** A failure if the text has a redaction's placeholder that the file at `path` does not contain itself. */
export async function refusePlaceholder(
  path: string,
  text: string,
  { workspace }: Pick<ToolContext, "workspace">,
): Promise<Failure | undefined> {
  const held = placeholdersIn(text);
  if (held.length === 0) return undefined;
  const file = await workspace.read(path);
  const known = isFailure(file) ? "" : file.text;
  const foreign = held.find((one) => !known.includes(one));
  if (foreign === undefined) return undefined;
  const what = `${path}: ${foreign} stands for a secret that you were not shown; the file holds the real value`;
  const todo =
    "Leave that piece of the line out of your text: use `edit` on what is beside it, as short as is unique";
  return failure("placeholder", `${what}. ${todo}. Nothing was written.`);
}
