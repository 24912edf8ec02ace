/** Reads typed text as a slash command with its arguments; a path is not a command. */
export interface TypedWords {
  readonly name: string;
  readonly words: string;
}

export function typedWords(text: string): TypedWords | undefined {
  const [, name, words = ""] = /^\/([\p{L}\p{N}_.:-]+)(?:\s+([\s\S]*))?$/u.exec(text) ?? [];
  return name === undefined ? undefined : { name, words: words.trim() };
}
