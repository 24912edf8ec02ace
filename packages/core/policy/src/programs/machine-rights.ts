/** Calls with more rights than the user's own, or that access the machine outside the command. */
import { hasOption, type ProgramCall, positional } from "./program-call.ts";

/** Programs whose every use counts. */
const raising: ReadonlySet<string> = new Set(
  (
    "sudo su doas pkexec runuser sudoedit run0 gosu su-exec super please calife ksu sg newgrp nsenter chroot unshare " +
    "machinectl pivot_root capsh setpriv kexec gksu kdesudo beesu dzdo visudo vipw vigr chvt openvt systemd-nspawn"
  ).split(" "),
);

/** Container options that give access to the machine. */
const opening =
  /^--(?:privileged|pid=host|ipc=host|uts=host|userns=host|net=host|network=host|cgroupns=host|cap-add|device|security-opt|volumes-from)\b/u;
const engines = /^(?:docker|podman|nerdctl|docker-compose|podman-compose|lxc|lxc-attach|ctr|crictl)$/u;

export function isRaising(call: ProgramCall): boolean {
  const { program, args } = call;
  if (raising.has(program)) return !isAsking(call);
  if (program === "chmod") return args.some(({ text }) => isSetId(text));
  if (program === "install")
    return (
      args.some(({ text }, i) => isSetId(text) && /^(?:-m|--mode)$/u.test(args[i - 1]?.text ?? "")) ||
      args.some(({ text }) => /^(?:-m|--mode=)[4-7]\d{3}$/u.test(text))
    );
  return engines.test(program) && isOpening(args.map(({ text }) => text));
}

function isAsking({ args }: ProgramCall): boolean {
  return args.length > 0 && args.every(({ text }) => /^(?:--help|-h|--version|-V)$/u.test(text));
}

/** `u+s`, `+s`, `4755`. */
function isSetId(text: string): boolean {
  return /^(?:[ugoa]*[+=][rwxXt]*s[rwxXst]*)(?:,|$)|,[ugoa]*[+=]\w*s|^0?[2-7]\d{3}$/u.test(text);
}

function isOpening(args: readonly string[]): boolean {
  return args.some((text, i) => {
    const pair = `${text}=${args[i + 1] ?? ""}`;
    if (opening.test(text) || (text.startsWith("--") && !text.includes("=") && opening.test(pair)))
      return true;
    const mount = /^(?:-v|--volume|--mount)$/u.test(text)
      ? (args[i + 1] ?? "")
      : /^(?:-v|--volume=|--mount=)(.+)$/u.exec(text)?.[1];
    return mount !== undefined && isOutside(mount);
  });
}

/** Mounts of the workspace, of a temporary folder, and of named volumes are harmless. */
function isOutside(mount: string): boolean {
  const place = /(?:^|,)(?:source|src)=([^,]*)/u.exec(mount)?.[1] ?? (mount.split(":")[0] as string);
  if (/^(?:\$PWD|\$\{PWD\}|\$\(pwd\)|`pwd`|\.(?:\/(?!.*\.\.)|$)|\/tmp\/(?!.*\.\.))/u.test(place))
    return false;
  return /^(?:\/|~|\.\.|\$HOME)/u.test(place) || /docker\.sock/u.test(mount);
}

/**
 * Whether a signal reaches processes that the session has not started: all, the first, a user's, or any by
 * name.
 */
export function isKillingOthers({ program, args }: ProgramCall): boolean {
  const words = positional(args).map(({ text }) => text);
  if (program === "killall5") return true;
  if (program === "kill")
    return args.some(
      ({ text }, i) =>
        (text === "1" || (text === "-1" && i > 0)) && !/^(?:-s|-n)$/u.test(args[i - 1]?.text ?? ""),
    );
  if (!/^(?:pkill|killall|skill|slay|xkill|snice)$/u.test(program)) return false;
  if (program === "slay" || program === "xkill") return true;
  return (
    hasOption(args, "--euid", "--uid", "--user", "--terminal", "--session", "--parent") ||
    args.some(({ text }) => /^-[uUtsgGP](?!\w*$)|^-[uUtgG]$/u.test(text)) ||
    words.some((text) => /^[.*^$]*$/u.test(text))
  );
}
