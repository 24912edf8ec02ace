/** A task in ten lines: what the words of the command line ask for, in the folder in which it is started. */
import { isFailure, run } from "lathe-agent";

const task = process.argv.slice(2).join(" ") || "make the failing test pass";
const turn = await run(task, { onRemark: console.error });
if (isFailure(turn)) throw new Error(turn.text);
console.log(turn.text);
console.log(`${turn.end.type} in ${turn.steps} steps; changed: ${turn.changed.join(", ") || "nothing"}`);
process.exitCode = turn.end.type === "done" ? 0 : 1;
