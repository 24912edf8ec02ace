/** Which programs reach the network, and whom. */
import type { Effect } from "@lathe/protocol";
import { hasOption, optionValues, type ProgramCall, positional } from "./program-call.ts";
import type { Word } from "./word.ts";

/** Programs whose every use reaches out. */
const always: ReadonlySet<string> = new Set(
  (
    "curl wget aria2c http https xh ssh scp sftp ftp telnet nc ncat netcat socat ping dig nslookup host whois " +
    "gh glab aws gcloud gsutil az kubectl helm terraform heroku vercel netlify fly flyctl firebase wrangler twine " +
    "npm-publish doctl ansible ansible-playbook mosh rclone"
  ).split(" "),
);

const npmWords =
  "install i ci add update up upgrade audit outdated view info search publish unpublish deprecate dist-tag login adduser owner access token create init dlx";
const systemWords = "install update upgrade dist-upgrade full-upgrade add fetch download";

/** Programs of which only some subcommands do. */
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

/** Of these, only these second words reach out. */
const second: Readonly<Record<string, string>> = {
  "go mod": "download tidy",
  "uv pip": "install sync",
  "uv tool": "install run",
};

const local = /^(localhost|127(\.\d+){3}|\[::1\]|::1|0\.0\.0\.0)$/u;

export function networkEffects(call: ProgramCall): readonly Effect[] {
  const { program, args } = call;
  const text = [program, ...args.map(({ raw }) => raw)].join(" ");
  if (program === "rsync") return remoteCopy(call, text);
  if (program === "scp") return remoteCopy(call, text);
  if (isSending(call))
    return hostEffects(call, text).map((effect) => ({
      ...effect,
      target: text,
      traits: ["shared", "irreversible"],
    }));
  if (always.has(program)) return isVersionOnly(call) ? [] : hostEffects(call, text);
  return isReachingSubcommand(call) ? [{ kind: "network", target: text }] : [];
}

/** To another machine it changes what is there. */
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

/** A request that sends something, and is no mere question. */
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

/** One effect per host that is named; the whole command when none is. */
function hostEffects({ args }: ProgramCall, text: string): readonly Effect[] {
  const hosts = positional(args).flatMap((arg) => (arg.isLiteral ? (hostOf(arg.text) ?? []) : []));
  const named = [...new Set(hosts)];
  if (named.length === 0 || args.some((arg) => !arg.isLiteral && /:\/\/\$|^\$/u.test(arg.text))) {
    return [{ kind: "network", target: text }];
  }
  return named.filter((host) => !local.test(host)).map((target) => ({ kind: "network", target }));
}

function hostOf(text: string): string | undefined {
  const found =
    /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?(\[[^\]]+\]|[^/:?#]+)/iu.exec(text) ??
    /^(?:[\w.-]+@)?(localhost|[\w-]+(?:\.[\w-]+)+)(?::|\/|$)/u.exec(text);
  return found?.[1]?.toLowerCase();
}

function isVersionOnly({ args }: ProgramCall): boolean {
  return (
    args.length === 1 && ["--version", "-V", "--help", "-h", "version", "help"].includes(args[0]?.text ?? "")
  );
}
