/** Which models a session uses when nobody said so. */

const byKey: readonly { readonly variables: readonly string[]; readonly model: string }[] = [
  { variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"], model: "anthropic/claude-sonnet-5.5" },
  { variables: ["OPENAI_API_KEY", "OPENAI_BASE_URL"], model: "openai/gpt-6.1-sol" },
  { variables: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"], model: "google/gemini-3.8-flash" },
];

/** The embedded model: no key, no network. */
export const builtinModel = "builtin/repair";

/** The chain as configured, else by the keys present, else the embedded model. */
export function chooseModels(
  configured: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  if (configured.length > 0) return configured;
  const found = byKey.find(({ variables }) => variables.some((name) => env[name]));
  return [found ? found.model : builtinModel];
}
