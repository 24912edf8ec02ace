/** Git settings: how git is asked of a repository that nobody vouches for, so that it runs no program and writes nothing. */

/** Settings before the command: programs that a repository's own settings may name are not run. */
export const noPrograms: readonly string[] = [
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "log.showSignature=false",
];

/** Nothing of this user's or this machine's settings, nothing asked of a person or of another machine. */
export const noSurroundings: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
};
