/** Describes what the session does now, and each call that has ended. */
import type { Activity, LiveCall, LiveItem } from "@lathe/protocol";
import { duration } from "../text/figures.ts";
import { lastLines } from "../text/fit.ts";
import type { FinishedCall } from "./call-lines.ts";
import { callTarget } from "./call-target.ts";

export function activityText(activity: Activity, now: number): string {
  switch (activity.type) {
    case "thinking":
      return `${activity.model} is thinking`;
    case "stopping":
      return "stopping";
    case "status":
      return activity.text;
    case "waiting":
      return `waiting ${duration(Math.max(0, activity.until - now))}: ${activity.why}`;
  }
}

/** The last line of a call's output so far. */
export function progressLine({ lastOutput = "" }: LiveCall): string {
  return lastLines(lastOutput, 1)[0] ?? "";
}

export function finishedCall({ call, ...ended }: Extract<LiveItem, { type: "call" }>): FinishedCall {
  return { tool: call.tool, target: callTarget(call.input, call.effects), ...ended };
}
