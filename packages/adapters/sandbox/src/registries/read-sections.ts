/** Read sections: names and values of a file in the manner of INI, which npmrc, pip.conf and the plain part of TOML are. */

export interface Section {
  /** Empty before the first one. */
  readonly name: string;
  readonly values: readonly (readonly [name: string, value: string])[];
}

/** Quotes around a value are taken off; a line that is indented goes on with the value above it. */
export function readSections(text: string): readonly Section[] {
  const sections: { name: string; values: [string, string][] }[] = [{ name: "", values: [] }];
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(?:[#;]|$)/.test(line)) continue;
    const section = /^\s*\[([^[\]]+)\]\s*(?:[#;].*)?$/.exec(line)?.[1]?.trim();
    const values = sections.at(-1)?.values ?? [];
    const last = values.at(-1);
    const at = line.indexOf("=");
    if (section !== undefined) sections.push({ name: section, values: [] });
    else if (/^\s/.test(line) && last && !isPair(line)) last[1] = `${last[1]} ${line.trim()}`.trim();
    else if (at > 0) values.push([line.slice(0, at).trim(), unquoted(line.slice(at + 1).trim())]);
  }
  return sections;
}

/** `name = value`; an address may have the sign further on. */
function isPair(line: string): boolean {
  return /^\s*[\w@:.~-]+\s*=/.test(line) && !/^\s*https?:/.test(line);
}

function unquoted(value: string): string {
  const quoted = /^(["'])(.*?)\1\s*(?:[#;].*)?$/.exec(value)?.[2];
  return quoted ?? value.replace(/\s+[#;].*$/, "");
}
