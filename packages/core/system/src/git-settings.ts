/** Variables with which git is started, so that it reads none of this machine's settings and never prompts. */

/** Nothing of this user's or this machine's settings, nothing asked of a person or of another machine. */
export const noSurroundings: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
};
