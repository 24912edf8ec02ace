/** Read sections: names and values of an INI-like file, such as npmrc, pip.conf and simple TOML. */

export interface Section {
  /** Empty before the first section header. */
  readonly name: string;
  readonly values: readonly (readonly [name: string, value: string])[];
}

/** Strips quotes around a value; an indented line continues the value above it. */
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

/** Matches `name = value`; an address may contain the sign later. */
function isPair(line: string): boolean {
  return /^\s*[\w@:.~-]+\s*=/.test(line) && !/^\s*https?:/.test(line);
}

function unquoted(value: string): string {
  const quoted = /^(["'])(.*?)\1\s*(?:[#;].*)?$/.exec(value)?.[2];
  return quoted ?? value.replace(/\s+[#;].*$/, "");
}
