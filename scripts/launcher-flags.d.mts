/** Each with its dashes. */
export function launcherFlags(): string[];
