/** The network log: what commands tried to reach, as it is decided. */

/** A host that commands tried to reach, and how that went. */
export interface Contact {
  /** Empty where the request named none that is valid. */
  readonly host: string;
  readonly port: number;
  /** `failed`: allowed, but not reached. */
  readonly verdict: "allowed" | "refused" | "failed";
  readonly times: number;
}

/** One decision, or several of a kind. */
export interface NetworkDecided extends Contact {
  /** The text of the rule that allowed the host, where one did. */
  readonly rule?: string;
  readonly why: string;
  /** The address reached, or that stood against it. */
  readonly address?: string;
}

export interface NetworkLog {
  /**
   * *Contract:* tells each decision once, those before the watch first, never within this call; what repeats is told as
   * a number of times. Returns the way to stop.
   */
  watch(listener: (decided: NetworkDecided) => void): () => void;
}
