/** The values of single settings in the text of a git configuration file; nothing that it includes is read. */

/** Section and name in lower case, as `core.autocrlf`. */
type SettingName = string;

const header = /^\s*\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]/;
const line = /^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/;

/** The last value of each setting of a section without a subsection. */
export function settingsIn(text: string): ReadonlyMap<SettingName, string> {
  const found = new Map<SettingName, string>();
  let section: string | undefined;
  for (const raw of text.split(/\r?\n/)) {
    const opened = header.exec(raw);
    if (opened) section = opened[2] === undefined ? opened[1]?.toLowerCase() : undefined;
    const [, name, value] = line.exec(opened ? raw.slice(opened[0].length) : raw) ?? [];
    if (section === undefined || name === undefined) continue;
    found.set(`${section}.${name.toLowerCase()}`, value === undefined ? "true" : plainValue(value));
  }
  return found;
}

/** Without quotes and what follows as a comment. */
function plainValue(value: string): string {
  let plain = "";
  let isQuoted = false;
  for (let at = 0; at < value.length; at++) {
    const letter = value[at] ?? "";
    if (letter === "\\") plain += value[++at] ?? "";
    else if (letter === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (letter === "#" || letter === ";")) break;
    else plain += letter;
  }
  return isQuoted ? plain : plain.trim();
}
