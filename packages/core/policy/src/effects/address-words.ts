/** Finds the words of a call that are addresses it reaches, as opposed to option values and files. */
import { interpreterOf } from "../programs/interpreters.ts";
import { isAddress } from "../programs/named-host.ts";
import { hasOption, optionValues, type ProgramCall } from "../programs/program-call.ts";
import type { Word } from "../shell/word.ts";

/** Programs that take hosts without a scheme: any word except values of the listed option letters. */
const takers: Readonly<Record<string, string>> = {
  curl: "AbcCdDeEFhHKmoPQrtTuUwXyYz",
  wget: "aABeDGiIlnOoPQRTtUwX",
  wget2: "aABeDGiIlnOoPQRTtUwX",
  http: "aAphso",
  https: "aAphso",
  httpie: "aAphso",
  xh: "aAphso",
  aria2c: "dioxjsk",
  axel: "nosUHT",
  ping: "cisWwtIMmpQT",
  ping6: "cisWwtIMmpQT",
  traceroute: "fgimNpqswz",
  tracepath: "lmp",
  mtr: "cims",
  dig: "bcfkpqty",
  drill: "bcdfiopqtwy",
  delv: "abcdiptqx",
  nslookup: "",
  host: "cNRtWm",
  whois: "hp",
  telnet: "beln",
  ftp: "",
  tftp: "",
  nmap: "pioDeSgTm",
  nc: "ewpsiOPqTXxIm",
  ncat: "ewpsimogG",
  netcat: "ewpsiOPqTXxIm",
  ab: "ncbeHpTtvACXuswxyz",
  wrk: "cdHstT",
  hey: "nqczomHtATDdx",
  siege: "crtdgflRbATHm",
  websocat: "",
  wscat: "csHoxw",
  grpcurl: "dH",
  lynx: "",
  w3m: "oTI",
  "yt-dlp": "foPxaU",
  "youtube-dl": "foPxaU",
};

const valueless =
  /^--(?:silent|show-error|fail|fail-with-body|fail-early|location|location-trusted|insecure|include|head|verbose|compressed|get|globoff|no-buffer|remote-\w+|http\d.*|ipv\d|progress-bar|retry-\w+|parallel|no-\w.*|create-dirs|ssl.*|tlsv.*|anyauth|basic|digest|ntlm|quiet|continue|spider|recursive|page-requisites|mirror|content-disposition|server-response|check-status|follow|json|form|body|headers|download|plaintext|version|help|oneway)$/u;

/** Names of options whose value is an address, for any program. */
const addressOptions =
  /^--(?:url|host|hostname|server|address|addr|endpoint|endpoint-url|registry|index-url|extra-index-url|find-links|proxy|preproxy|index|git|from|source|repo-url|connect|remote|doh-url|socks\w+|kube-?server|base-url|api-url)(?:=|$)/u;

/** Programs that fetch their arguments, if these are addresses. */
const fetchers: ReadonlySet<string> = new Set(
  (
    "npm npx pnpm pnpx yarn bun bunx deno pip pip3 pipx uv uvx poetry pipenv conda mamba cargo go gem bundle composer " +
    "docker podman skopeo openssl getent psql mysql mariadb mongosh mongo redis-cli valkey-cli pg_dump mysqldump " +
    "pg_isready ldapsearch brew apt apt-get dnf yum hg svn fossil rustup nix nix-env cpan cpanm luarocks mvn gradle " +
    "helm kubectl gh glab aws gcloud az vault consul nomad etcdctl influx cqlsh clickhouse-client sqlcmd smbclient " +
    "nuget dotnet mix vcpkg conan degit tiged create-react-app cookiecutter copier playwright lighthouse wkhtmltopdf " +
    "chromium google-chrome firefox ffmpeg ffplay vlc mpv"
  ).split(" "),
);

/** Their options whose value is a host. */
const hostLetters: Readonly<Record<string, readonly string[]>> = {
  psql: ["-h"],
  pg_dump: ["-h"],
  pg_isready: ["-h"],
  mysql: ["-h"],
  mysqldump: ["-h"],
  mariadb: ["-h"],
  "redis-cli": ["-h", "-u"],
  "valkey-cli": ["-h", "-u"],
  openssl: ["-connect", "-proxy"],
  pip: ["-i", "-f"],
  pip3: ["-i", "-f"],
  curl: ["-x"],
};

/** Whether one of its words is an address that it reaches. */
export function isNaming(call: ProgramCall): boolean {
  return (fetchers.has(call.program) || hasOwnHost(call)) && addressWords(call).length > 0;
}

function hasOwnHost({ program, args }: ProgramCall): boolean {
  return args.length > 0 && Object.hasOwn(hostLetters, program);
}

export function addressWords(call: ProgramCall): readonly Word[] {
  const { program, args } = call;
  if (hasOption(args, "--unix-socket", "--abstract-unix-socket")) return [];
  const letters = Object.hasOwn(takers, program) ? takers[program] : undefined;
  const given = optionValues(
    args,
    ...(Object.hasOwn(hostLetters, program) ? (hostLetters[program] ?? []) : []),
  );
  const named = args.flatMap((word, i) => {
    const found = addressOptions.exec(word.text)?.[0];
    if (found === undefined) return [];
    const value = found.endsWith("=") ? { ...word, text: word.text.slice(found.length) } : args[i + 1];
    return value && /[.:$`]|^localhost$/u.test(value.text) ? [value] : [];
  });
  const free = letters === undefined ? args.filter(isSpelledOut) : freeWords(args, letters).filter(mayBeHost);
  const hidden = args.flatMap((word, i) => hiddenAddresses(word, args[i + 1], program));
  const own = program === "getent" ? args.slice(1).filter(({ text }) => mayBeHost({ text })) : [];
  return [...new Set([...given, ...named, ...free, ...hidden, ...(interpreterOf(call) ? [] : own)])];
}

/**
 * Addresses in special options: a different target of the request, a file of addresses, or the registry of an
 * image.
 */
function hiddenAddresses(word: Word, next: Word | undefined, program: string): readonly Word[] {
  const { text } = word;
  if (/^(?:docker|podman|nerdctl)$/u.test(program))
    return /^[\w-]+(?:\.[\w-]+)+(?::\d+)?\/[\w./:@-]+$/u.test(text) ? [word] : [];
  const [, to] = /^--(connect-to|resolve)(?:=|$)/u.exec(text) ?? [];
  if (to && next)
    return next.text
      .split(":")
      .slice(2, to === "resolve" ? undefined : 3)
      .map((part) => ({ ...next, text: part }));
  const isList =
    program === "curl"
      ? /^(?:-K|--config)/u
      : /^(?:wget2?|aria2c|axel)$/u.test(program)
        ? /^(?:-i|--input-file)/u
        : undefined;
  return isList?.test(text) ? [{ ...word, text: "$addresses" }] : [];
}

/** Whether the word has a scheme, or may get one from an expansion. */
function isSpelledOut({ text }: Word): boolean {
  return isAddress(text) && !/\s/u.test(text);
}

/** The words that are neither options nor option values. */
function freeWords(args: readonly Word[], letters: string): readonly Word[] {
  return args.filter(({ text }, i) => {
    if (/^[-+]/u.test(text)) return false;
    const before = args[i - 1]?.text ?? "";
    if (before === "--") return true;
    if (/^-[A-Za-z0-9#]+$/u.test(before) && !/^--/u.test(before)) return !letters.includes(before.slice(-1));
    return !before.startsWith("--") || before.includes("=") || valueless.test(before) || isAddress(text);
  });
}

/** Whether a word without an option may be a host: not a number, a file, or a request method. */
function mayBeHost({ text }: Pick<Word, "text">): boolean {
  return (
    !/^(?:\d+(?:-\d+)?|[A-Z]+|:\d*.*|[\w-]+(?:==?|:=|@|:).*(?<!:\/\/.*)|)$/u.test(text) ||
    /^[\w.-]+:\/\/|^[\w-]+(?:\.[\w-]+)+:\d|^localhost:/u.test(text)
  );
}
