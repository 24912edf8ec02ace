/** What tools of a program's own need of ours. */
export { cleanOutcome } from "@lathe/tools/clean-outcome";
