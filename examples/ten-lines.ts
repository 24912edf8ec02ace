/** A task in ten lines: it does what the command-line arguments ask, in the current folder. */
import { isFailure, run } from "lathe-agent";

const task = process.argv.slice(2).join(" ") || "make the failing test pass";
const turn = await run(task, { onRemark: console.error });
if (isFailure(turn)) throw new Error(turn.text);
console.log(turn.text);
console.log(`${turn.end.type} in ${turn.steps} steps; changed: ${turn.changed.join(", ") || "nothing"}`);
process.exitCode = turn.end.type === "done" ? 0 : 1;
