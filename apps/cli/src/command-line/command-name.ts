/** Command name: how this command is called by the person at the keyboard, for texts that say what to type. */

export function commandName(env: NodeJS.ProcessEnv): string {
  return env.npm_command === "exec" ? "npx lathe" : "lathe";
}
