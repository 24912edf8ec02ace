/** Actions: everything `next` can decide; `perform` has one way to do each. */
import type { CompactionRequest, Failure, ModelSwitched, NoticePosted, TurnEnd } from "@lathe/protocol";

export type Action =
  /** No turn is open. */
  | { readonly type: "idle" }
  /** An attempt was cut off with its owner: charge it and start over. */
  | { readonly type: "discard-attempt" }
  /** Calls that started and never completed: find out what became of them. */
  | { readonly type: "recover-calls"; readonly calls: readonly string[] }
  /** Ask policy, and where it says so a person, about calls nobody has decided. */
  | { readonly type: "decide-calls"; readonly calls: readonly string[] }
  /** Run allowed calls together. */
  | { readonly type: "run-calls"; readonly calls: readonly string[] }
  /** Keep the files before a step that may change them, or after one that may have. */
  | { readonly type: "take-checkpoint"; readonly moment: "before" | "after" }
  /** Give every call that will not run an outcome. */
  | { readonly type: "close-calls"; readonly failure: Failure }
  /** A person has to answer first. */
  | { readonly type: "await-person" }
  /** The next attempt is not due yet. */
  | { readonly type: "await-time"; readonly until: number; readonly why: string }
  | ({ readonly type: "switch-model" } & Pick<ModelSwitched, "to" | "why" | "because">)
  | ({ readonly type: "post-notice"; readonly about: "loop" | "truncated" | "plan" | "background" } & Pick<
      NoticePosted,
      "text" | "ended"
    >)
  /** Look for what the folders of touched files say to an agent. */
  | { readonly type: "give-instructions"; readonly folders: readonly string[] }
  /** Let the router choose the model of the next attempts. */
  | { readonly type: "route"; readonly moment: "turn" | "evidence"; readonly evidence?: string }
  /** Make the conversation shorter. */
  | ({ readonly type: "compact" } & Pick<CompactionRequest, "why" | "focus">)
  | { readonly type: "call-model" }
  | { readonly type: "end-turn"; readonly end: TurnEnd };
