/** Compaction: the stages that shorten a conversation, loaded when one is too long. */
import type { Failure, ModelInfo, ModelRequest, Session, ShortenedPart } from "@lathe/protocol";
import { freesByItself, shorten, type WholeTexts } from "./shorten.ts";
import { askForSummary, summaryText } from "./summary.ts";

export interface Compaction {
  readonly freesByItself: (session: Session, info: ModelInfo) => boolean;
  readonly shorten: (
    session: Session,
    given: Parameters<typeof shorten>[1],
    texts: WholeTexts,
  ) => Promise<readonly ShortenedPart[]>;
  readonly ask: (
    session: Session,
    given: Parameters<typeof askForSummary>[1],
  ) => { readonly request: ModelRequest; readonly messages: number } | undefined;
  readonly summary: (session: Session, given: Parameters<typeof summaryText>[1]) => string | Failure;
}

export const compaction: Compaction = { freesByItself, shorten, ask: askForSummary, summary: summaryText };
