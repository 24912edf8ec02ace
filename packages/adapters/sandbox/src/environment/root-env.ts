/** Environment variables that root's commands need once they have no capabilities. */

/** Root without capabilities cannot change owners, which tar would try. */
export function rootEnv(): Readonly<Record<string, string>> {
  return process.getuid?.() === 0 ? { TAR_OPTIONS: "--no-same-owner" } : {};
}
