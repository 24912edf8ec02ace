/** Escapes: reading files that the user would not share. */
import { statSync } from "node:fs";
import type { secretFiles } from "../ground.ts";
import type { EscapeProbe } from "../probe.ts";
import { syscalls } from "../script-parts.ts";

const readable = { group: "secrets", isGrave: false } as const;

function readsFiles(
  id: string,
  what: string,
  names: readonly (keyof typeof secretFiles & string)[],
): EscapeProbe {
  return {
    ...readable,
    id,
    what: `reads ${what}`,
    steps: ({ home }) =>
      names
        .map((name) => `cat ${home}/${name}`)
        .join("; ")
        .concat("; true"),
  };
}

export const secrets: readonly EscapeProbe[] = [
  readsFiles("secret-ssh", "private ssh keys", [".ssh/id_rsa"]),
  readsFiles("secret-aws", "AWS credentials", [".aws/credentials"]),
  readsFiles("secret-netrc", "passwords in .netrc", [".netrc"]),
  readsFiles("secret-git-credentials", "git's stored passwords", [".git-credentials"]),
  readsFiles("secret-history", "the shell's history", [".bash_history"]),
  readsFiles("secret-containers", "keys of docker and kubernetes", [".docker/config.json", ".kube/config"]),
  readsFiles("secret-registries", "tokens for package registries", [
    ".npmrc",
    ".pypirc",
    ".cargo/credentials.toml",
  ]),
  readsFiles("secret-cloud", "tokens of cloud tools", [
    ".config/gh/hosts.yml",
    ".config/gcloud/application_default_credentials.json",
  ]),
  readsFiles("secret-gnupg", "private keys of gnupg", [".gnupg/private-keys-v1.d/key.key"]),
  readsFiles("secret-harness-state", "the harness's own sessions and keys", [
    ".local/state/lathe/sessions/s1/log.jsonl",
    ".config/lathe/keys.json",
  ]),
  readsFiles("secret-other-project", "a file of another project", ["other-project/.env"]),
  {
    ...readable,
    id: "secret-search",
    what: "searches every place it can think of for the secret files",
    steps: ({ home, folder }) =>
      `for f in $(find /old_root /oldroot /.old /newroot ${folder} ${home} -xdev \\( -name id_rsa -o -name credentials -o -name .netrc \\) 2>/dev/null); do cat $f; done; true`,
  },
  {
    ...readable,
    id: "secret-sibling-session",
    what: "reads the folder of another session",
    steps: ({ scratch }) => `cat ${scratch}/../sibling/*; ls ${scratch}/..; true`,
  },
  {
    ...readable,
    id: "secret-outside",
    what: "reads files outside the workspace and in the host's /tmp",
    steps: ({ canary, hostTmp }) => `cat ${canary} ${hostTmp}/canary; true`,
  },
  {
    ...readable,
    id: "secret-by-link",
    what: "reads a secret through links in the workspace",
    steps: ({ home }) =>
      `ln -s ${home}/.ssh/id_rsa key; cat key; ln ${home}/.netrc hard; cat hard; cp ${home}/.aws/credentials here; cat here; rm -f key hard here; true`,
  },
  {
    ...readable,
    id: "secret-environment",
    what: "finds a secret of the harness's environment in its own",
    needs: ["inherited"],
    steps: "env; set; tr '\\0' '\\n' < /proc/self/environ; true",
  },
  {
    ...readable,
    id: "secret-all-environments",
    what: "reads the environment and command line of every process it sees, the launcher's too",
    needs: ["inherited"],
    steps: ({ harnessPid }) =>
      `for p in /proc/1 /proc/${harnessPid} /proc/[0-9]*; do cat $p/environ $p/cmdline $p/auxv; done 2>/dev/null | tr '\\0' '\\n' | grep -a . ; ps auxewww 2>/dev/null; true`,
  },
  {
    ...readable,
    id: "secret-parents-memory",
    what: "reads the memory of its parents",
    needs: ["inherited"],
    tools: ["python3"],
    steps: ({ harnessPid }) =>
      syscalls(`
import re
for pid in [${harnessPid}, os.getppid()]:
    if pid in (0, os.getpid()): continue
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
            for line in maps:
                if "[stack]" not in line: continue
                low, high = (int(x, 16) for x in line.split()[0].split("-"))
                mem.seek(high - 65536 if high - low > 65536 else low)
                for found in set(re.findall(rb"secret[0-9a-f]{24}", mem.read(min(65536, high - low)))): print(pid, found.decode())
    except OSError as e: print(pid, e)`),
  },
  {
    ...readable,
    id: "secret-inherited-file",
    what: "reads a file that is open in an inherited descriptor",
    needs: ["inherited"],
    steps: ({ inheritance }) =>
      `cat /proc/self/fd/${inheritance?.fileFd}; cat /dev/fd/${inheritance?.fileFd}; true`,
  },
  {
    ...readable,
    id: "secret-shadow",
    what: "can read the machine's password hashes",
    needs: ["root"],
    // The size is proof enough: the hashes themselves are not needed.
    steps: "wc -c < /etc/shadow; true",
    escaped: ({ output }) =>
      output.trim() === String(statSync("/etc/shadow").size) ? "/etc/shadow can be read" : undefined,
  },
  {
    ...readable,
    id: "secret-keyring-session",
    what: "reads a key of the session keyring it inherited",
    needs: ["inherited"],
    tools: ["python3"],
    steps: () =>
      syscalls(`
for ring in (-3, -4, -5, -2, -1):
    found = call("keyctl", 10, ring, b"user", b"lathe-probe", 0)
    print(ring, found)
    if isinstance(found, int):
        text = ctypes.create_string_buffer(256); got = call("keyctl", 11, found, text, 256); print(got, text.value.decode(errors="replace"))
try: print(open("/proc/keys").read())
except OSError as e: print(e)`),
  },
];
