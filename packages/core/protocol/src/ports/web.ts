/** The port to the web: fetches pages as text, and searches. */
import type { Failure } from "../failure.ts";

export interface WebPage {
  /** The final address, on the same host as the requested one. */
  readonly url: string;
  /** Its media type. */
  readonly type: string;
  readonly text: string;
}

/** The page is on another host, which was not approved. */
export interface WebRedirect {
  readonly to: string;
}

export interface WebHit {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

export interface Web {
  /**
   * *Contract:* contacts only the host in the address, and only at public addresses; bounded in time and
   * size; never rejects.
   */
  fetch(url: string, signal: AbortSignal): Promise<WebPage | WebRedirect | Failure>;
  /**
   * *Contract:* makes no lookup; why the address is always refused, judged by its text alone and whatever
   * rules allow.
   */
  barred(url: string): string | undefined;
  /** Absent without a key. */
  readonly search?: {
    /** The host of the search service. */
    readonly host: string;
    /** *Contract:* best first; never rejects. */
    find(query: string, limit: number, signal: AbortSignal): Promise<readonly WebHit[] | Failure>;
  };
}
