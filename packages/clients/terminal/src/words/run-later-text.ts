/** Lists on one line the changed files that programs or later sessions will run or follow. */
import type { Event, RunLaterFile } from "@lathe/protocol";
import { fileName } from "../text/file-name.ts";

const filesNamed = 10;

export function runLaterText(files: readonly RunLaterFile[]): string {
  const named = files.slice(0, filesNamed).map(({ path, why }) => `${fileName(path)} (${why})`);
  const more = files.length > filesNamed ? `, and ${files.length - filesNamed} more` : "";
  return `Review before use, these changes run later: ${named.join(", ")}${more}`;
}

/** Whether the event lists the turn's changed files that run later. */
export function isLooked(event: Event): event is Event<"checkpoint.taken"> {
  return event.type === "checkpoint.taken" && event.data.moment === "after" && event.data.ref !== undefined;
}

/** Takes a session's events in order, and returns a line when a turn ends. */
export function collectRunLater(): (event: Event) => string | undefined {
  let files: readonly RunLaterFile[] = [];
  return (event) => {
    if (isLooked(event)) files = event.data.runLater ?? [];
    if (event.type !== "turn.ended" || files.length === 0) return undefined;
    const text = runLaterText(files);
    files = [];
    return text;
  };
}
