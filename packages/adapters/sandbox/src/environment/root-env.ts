/** What root's commands need in their environment once they have no capabilities. */

/** Root without capabilities cannot give files away, which tar would try. */
export function rootEnv(): Readonly<Record<string, string>> {
  return process.getuid?.() === 0 ? { TAR_OPTIONS: "--no-same-owner" } : {};
}
