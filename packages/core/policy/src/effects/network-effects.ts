/** Programs that use the network, and the hosts they reach. */
import type { Effect } from "@lathe/protocol";
import { namedHost } from "../programs/named-host.ts";
import { callText, hasOption, optionValues, type ProgramCall, positional } from "../programs/program-call.ts";
import type { Word } from "../shell/word.ts";
import { addressWords, isNaming } from "./address-words.ts";

/** Programs that use the network in every call. */
const always: ReadonlySet<string> = new Set(
  (
    "curl wget aria2c http https xh ssh scp sftp ftp telnet nc ncat netcat socat ping dig nslookup host whois " +
    "gh glab aws gcloud gsutil az kubectl helm terraform heroku vercel netlify fly flyctl firebase wrangler twine " +
    "npm-publish doctl ansible ansible-playbook mosh rclone wget2 axel lynx w3m links elinks websocat wscat grpcurl " +
    "httpie hey ab wrk siege vegeta k6 nmap masscan traceroute tracepath mtr drill delv whois ldapsearch kafkacat kcat " +
    "mosquitto_pub mosquitto_sub nats amqp-publish yt-dlp youtube-dl snmpwalk rsh rlogin tnftp tftp lwp-request GET HEAD POST"
  ).split(" "),
);

const npmWords =
  "install i ci add update up upgrade audit outdated view info search publish unpublish deprecate dist-tag login adduser owner access token create init dlx";
const systemWords = "install update upgrade dist-upgrade full-upgrade add fetch download";

/** Programs that use the network only with some subcommands. */
const some: Readonly<Record<string, string>> = {
  npm: npmWords,
  pnpm: npmWords,
  yarn: npmWords,
  bun: npmWords,
  pip: "install download search index",
  pip3: "install download search index",
  pipx: "install upgrade run",
  uv: "add sync pip tool publish lock",
  poetry: "add install update publish lock",
  pipenv: "install update sync lock",
  conda: "install create update",
  cargo: "install publish login add update fetch search yank owner",
  go: "get install mod",
  gem: "install push update yank",
  bundle: "install update add",
  composer: "install update require",
  docker: "pull push login run build search",
  podman: "pull push login run build search",
  rustup: "install update toolchain component target",
  apt: systemWords,
  "apt-get": systemWords,
  apk: systemWords,
  yum: systemWords,
  dnf: systemWords,
  brew: systemWords,
  hg: "push pull clone",
  svn: "commit ci update checkout co",
  dotnet: "restore add nuget",
};

/** For these subcommands, only these second words use the network. */
const second: Readonly<Record<string, string>> = {
  "go mod": "download tidy",
  "uv pip": "install sync",
  "uv tool": "install run",
};

export function networkEffects(call: ProgramCall): readonly Effect[] {
  const { program } = call;
  const text = callText(call);
  if (program === "rsync") return remoteCopy(call, text);
  if (program === "scp") return remoteCopy(call, text);
  if (isVersionOnly(call)) return [];
  if (isListening(call)) return [{ kind: "network", target: text }];
  const isAlways = always.has(program);
  const hosts = isAlways || isNaming(call) ? hostEffects(call, text) : [];
  if (isSending(call) && hosts.length > 0)
    return [...hosts, { kind: "network", target: text, traits: ["shared", "irreversible"] }];
  if (isAlways || !isReachingSubcommand(call)) return hosts;
  const others = hosts.filter(({ target }) => !registries.has(target));
  return others.length > 0 ? others : [{ kind: "network", target: text }];
}

/** Hosts that package managers fetch from anyway. */
const registries: ReadonlySet<string> = new Set(
  (
    "registry.npmjs.org registry.yarnpkg.com pypi.org files.pythonhosted.org crates.io index.crates.io static.crates.io " +
    "proxy.golang.org sum.golang.org rubygems.org index.rubygems.org repo.packagist.org packagist.org " +
    "repo.maven.apache.org repo1.maven.org plugins.gradle.org api.nuget.org hex.pm repo.hex.pm"
  ).split(" "),
);

/** `nc -l 9999` waits for connections. */
function isListening({ program, args }: ProgramCall): boolean {
  const isSo = /^(?:nc|ncat|netcat)$/u.test(program) && args.some(({ text }) => /^-\w*l/u.test(text));
  return isSo && args.every(({ text }) => /^-[lkvnpz46uw]+$|^\d+$|^(?:localhost|127\.[\d.]+)$/u.test(text));
}

/** Copying to another machine changes files there. */
function remoteCopy({ args }: ProgramCall, target: string): readonly Effect[] {
  const words = positional(args);
  const isRemote = (word: Word | undefined): boolean =>
    /^(?:[^/]+:|rsync:)/u.test(word?.text ?? "") || word?.isLiteral === false;
  if (!words.some(isRemote)) return [];
  return isRemote(words.at(-1))
    ? [{ kind: "network", target, traits: ["shared", "irreversible"] }]
    : [{ kind: "network", target }];
}

const sending: Readonly<Record<string, RegExp>> = {
  curl: /^(?:-[a-zA-Z]*[dFT].*|--data.*|--form.*|--json|--upload-file|--mail-.*|-Q|--quote)$/u,
  wget: /^--(?:post|body|method)/u,
  nc: /^(?!-[lzv]+$)/u,
  ncat: /^(?!-[lzv]+$)/u,
  netcat: /^(?!-[lzv]+$)/u,
  socat: /(?:)/u,
};

/** Whether a request sends data rather than only asking for it. */
function isSending({ program, args }: ProgramCall): boolean {
  const option = Object.hasOwn(sending, program) ? sending[program] : undefined;
  if (program === "http" || program === "https" || program === "xh")
    return args.some(({ text }) => /^(?:POST|PUT|PATCH|DELETE)$/u.test(text));
  if (!option) return false;
  const methods = [...optionValues(args, "-X", "--request", "--method")];
  if (methods.some(({ text, isLiteral }) => !isLiteral || !/^(?:GET|HEAD|OPTIONS)$/iu.test(text)))
    return true;
  if (
    methods.length > 0 ||
    hasOption(
      args.filter(({ text }) => text.startsWith("--")),
      "--get",
    ) ||
    args.some(({ text }) => text === "-G")
  )
    return false;
  return args.some(({ text }) =>
    text.startsWith("-") || program === "socat" || /^n/u.test(program) ? option.test(text) : false,
  );
}

function isReachingSubcommand({ program, args }: ProgramCall): boolean {
  const [word, more] = positional(args).map((arg) => arg.text);
  const words = Object.hasOwn(some, program) ? some[program]?.split(" ") : undefined;
  if (!words) return false;
  if (word === undefined) return program === "yarn" && args.length === 0;
  const seconds = second[`${program} ${word}`]?.split(" ");
  return words.includes(word) && (!seconds || seconds.includes(more ?? ""));
}

/** One effect per named host, none for this machine itself; the whole command if no word names any. */
function hostEffects(call: ProgramCall, text: string): readonly Effect[] {
  const words = addressWords(call);
  if (words.length === 0) return [{ kind: "network", target: text }];
  return words.flatMap((word) => namedHost(word.text));
}

function isVersionOnly({ args }: ProgramCall): boolean {
  return (
    args.length === 1 && ["--version", "-V", "--help", "-h", "version", "help"].includes(args[0]?.text ?? "")
  );
}
