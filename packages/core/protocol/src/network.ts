/** The network log: connections that commands attempt, recorded as they are decided. */

/** A host that commands tried to reach, and the result. */
export interface Contact {
  /** Empty if the request named no valid host. */
  readonly host: string;
  readonly port: number;
  /** `failed`: allowed, but the connection failed. */
  readonly verdict: "allowed" | "refused" | "failed";
  readonly times: number;
}

/** One decision, or several equal ones. */
export interface NetworkDecided extends Contact {
  /** The text of the rule that allowed the host, if one did. */
  readonly rule?: string;
  readonly why: string;
  /** The address that was reached, or that caused the refusal. */
  readonly address?: string;
}

export interface NetworkLog {
  /**
   * *Contract:* reports each decision once, earlier ones first, never during this call; repeated decisions
   * are reported as a count. Returns a function that stops watching.
   */
  watch(listener: (decided: NetworkDecided) => void): () => void;
}
