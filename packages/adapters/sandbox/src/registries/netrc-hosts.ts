/** Hosts for which a .netrc file has a login, as pip and Go take them from there (the format of ftp(1) and curl). */

/** Accepts any bytes; a `default` entry names no host. */
export function netrcHosts(text: string): ReadonlySet<string> {
  // A macro extends to the next empty line, whatever it contains.
  const entries = text.replace(/^[ \t]*macdef\b[\s\S]*?(?:\n[ \t]*\n|$(?![\s\S]))/gm, "\n");
  const words = entries.replace(/^[ \t]*#.*$/gm, "").split(/\s+/);
  const hosts = words.flatMap((word, at) => (words[at - 1] === "machine" && word !== "" ? [word] : []));
  return new Set(hosts.map((host) => host.toLowerCase()));
}
