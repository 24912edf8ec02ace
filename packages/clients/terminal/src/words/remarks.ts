/** Remarks: what people are told of events that concern neither an answer nor a call; the same on every surface. */
import type { Event } from "@lathe/protocol";
import { compactedLine } from "./compacted-text.ts";
import { routedText } from "./routed-text.ts";
import { collectRunLater } from "./run-later-text.ts";

export interface Remark {
  /** `quiet` is for those who look closely, `warning` for everybody. */
  readonly tone: "quiet" | "warning";
  /** As it came: a model's, a host's and a program's words may hold controls of the terminal. */
  readonly text: string;
}

/** What to say of the events of one session, one after the other: nothing of most, and nothing twice that comes at every step. */
export function createRemarks(): (event: Event) => Remark | undefined {
  const told = new Set<string>();
  const runLater = collectRunLater();
  let chosen: string | undefined;
  const once = (remark: Remark): Remark | undefined => {
    if (told.has(remark.text)) return undefined;
    told.add(remark.text);
    return remark;
  };
  return (event) => {
    const later = runLater(event);
    if (later !== undefined) return warning(later);
    switch (event.type) {
      case "step.failed":
        // That an answer was stopped, the end says.
        return event.data.failure.code === "cancelled"
          ? undefined
          : warning(`no answer: ${event.data.failure.text}`);
      case "model.routed":
        chosen = event.data.to;
        return quiet(routedText(event.data));
      case "model.switched":
        return event.data.to === chosen
          ? undefined
          : warning(`switching to ${event.data.to}: ${event.data.why}`);
      case "checkpoint.taken":
        return event.data.failure && once(warning(uncovered(event.data.failure.text)));
      case "context.compacted":
        return quiet(compactedLine(event.data));
      case "network.decided":
        return once(contacted(event.data));
      case "notice.posted":
        return { tone: isNews(event.data) ? "quiet" : "warning", text: toldText(event.data.text) };
      case "session.rewound":
        return warning("the session went back");
      default:
        return undefined;
    }
  };
}

/** What happened, rather than what the model did. */
function isNews({ about }: Event<"notice.posted">["data"]): boolean {
  return about === "background" || about === "files";
}

export function toldText(notice: string): string {
  return `told the model: ${notice}`;
}

function contacted({ host, port, verdict, why }: Event<"network.decided">["data"]): Remark {
  const what = `network: ${verdict} ${host}:${port}`;
  return verdict === "allowed" ? quiet(what) : warning(`${what} (${why})`);
}

function uncovered(why: string): string {
  return `the files are not kept, so this cannot be taken back: ${why}`;
}

function quiet(text: string): Remark {
  return { tone: "quiet", text };
}

function warning(text: string): Remark {
  return { tone: "warning", text };
}
