/** Applies part of an edit: hunks that log to the console are not written, and the agent gets a note. */
import { isFailure, type PartialAnswer, type Question, run } from "lathe-agent";

function withoutLogs({ call }: Question): string | PartialAnswer {
  const files = call?.files ?? [];
  const isFine = (hunk: string): boolean => !/^\+.*console\.log/m.test(hunk);
  const take = files.map(({ path, hunks }) => ({
    path,
    hunks: hunks.flatMap((hunk, at) => (isFine(hunk) ? [at] : [])),
  }));
  const [count, all] = [take, files].map((list) => list.reduce((sum, { hunks }) => sum + hunks.length, 0));
  if (files.length === 0 || count === 0) return "deny";
  return count === all ? "allow" : { answer: "allow", take, words: "No console.log here." };
}

const task = process.argv.slice(2).join(" ");
const turn = await run(task, { mode: "ask", onQuestion: withoutLogs });
console.log(isFailure(turn) ? turn.text : `${turn.text}\nchanged: ${turn.changed.join(", ")}`);
