/** The port to the web: pages as text, and a search for them. */
import type { Failure } from "../failure.ts";

export interface WebPage {
  /** Where it was found: of the same host as was asked for. */
  readonly url: string;
  /** Its media type. */
  readonly type: string;
  readonly text: string;
}

/** It is on another host, which was not approved. */
export interface WebRedirect {
  readonly to: string;
}

export interface WebHit {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

export interface Web {
  /** *Contract:* asks only the host that the address names, and that only at public addresses; bounded in time and size; never rejects. */
  fetch(url: string, signal: AbortSignal): Promise<WebPage | WebRedirect | Failure>;
  /** *Contract:* looks nothing up; why the address is never asked, where it says so itself, whatever a rule allows. */
  barred(url: string): string | undefined;
  /** Absent without a key. */
  readonly search?: {
    /** Whom it asks. */
    readonly host: string;
    /** *Contract:* the best first; never rejects. */
    find(query: string, limit: number, signal: AbortSignal): Promise<readonly WebHit[] | Failure>;
  };
}
