/** Must work: the shell's use of processes, descriptors and terminals. */
import { isFailure } from "@lathe/protocol";
import type { WorkProbe } from "../probe.ts";
import { python } from "../script-parts.ts";

const work = { group: "shell" } as const;

export const shellWork: readonly WorkProbe[] = [
  {
    ...work,
    id: "work-dev-stderr",
    what: "opens /dev/stderr, /dev/stdout and /dev/fd",
    steps:
      "echo one >/dev/stderr; echo two | tee /dev/stderr >/dev/null; echo three >/dev/stdout; echo four >/dev/fd/2; echo five >> /dev/stderr",
    says: /one\ntwo\nthree\nfour\nfive/,
  },
  {
    ...work,
    id: "work-dev-stdin",
    what: "reads /dev/stdin, from a pipe and when it is empty",
    steps: "echo piped | cat /dev/stdin; cat /dev/stdin; cat; echo end",
    says: /piped\nend/,
  },
  {
    ...work,
    id: "work-substitution",
    what: "substitutes processes",
    steps: "diff <(echo same) <(echo same) && echo equal; echo out > >(cat); wait; paste <(seq 2) <(seq 3 4)",
    says: /equal[\s\S]*1\t3/,
  },
  {
    ...work,
    id: "work-fifo",
    what: "talks through a named pipe",
    steps: "mkfifo p; (echo through > p &); cat p",
    says: "through",
  },
  {
    ...work,
    id: "work-here",
    what: "reads here-documents and here-strings",
    steps: "cat <<END\nhere $((1 + 1))\nEND\ncat <<< string",
    says: /here 2\nstring/,
  },
  {
    ...work,
    id: "work-output",
    what: "writes much, and all of it is counted",
    steps: "seq 1 200000; echo the end",
    says: "the end\n",
    broken: ({ results: [first] }) =>
      first !== undefined && !isFailure(first) && first.bytes === 1_288_895 + 8
        ? undefined
        : "bytes are missing",
  },
  {
    ...work,
    id: "work-exit-code",
    what: "is told the exit code",
    steps: () => [
      { script: "exit 42" },
      { script: "false" },
      { script: "true" },
      { script: "nosuchcommand" },
    ],
    codes: [42, 1, 0, 127],
  },
  {
    ...work,
    id: "work-signal",
    what: "is told that a signal ended it",
    steps: "kill -KILL $$",
    codes: [137],
    broken: () => undefined,
  },
  {
    ...work,
    id: "work-background",
    what: "runs jobs in the background and waits for them",
    steps:
      "(sleep 0.1; echo job) & wait; (exit 5) & wait $!; echo code $?; for i in 1 2 3; do sleep 0.05 & done; wait; echo over",
    says: /job\ncode 5\nover/,
  },
  {
    ...work,
    id: "work-trap",
    what: "traps its end and signals",
    steps: "trap 'echo bye' EXIT; trap 'echo got' USR1; kill -USR1 $$; sleep 0.01; echo on",
    says: /got\non\nbye/,
  },
  {
    ...work,
    id: "work-kill-children",
    what: "ends its own children, also by name",
    tools: ["pkill"],
    steps:
      "sleep 77 & p=$!; kill $p; wait $p; echo code $?; sleep 78 & sleep 0.05; pkill -P $$ -x sleep; wait $!; echo code $?; timeout 0.1 sleep 5; echo code $?",
    says: /code 143\n[\s\S]*code 143\n[\s\S]*code 124/,
  },
  {
    ...work,
    id: "work-mktemp",
    what: "makes temporary files",
    steps:
      'f=$(mktemp); echo x > $f; cat $f; d=$(mktemp -d); test -d $d && echo folder; test -w /tmp && echo tmp; test -w "$TMPDIR" && echo own',
    says: /x\nfolder\ntmp\nown/,
  },
  {
    ...work,
    id: "work-tmp-kept",
    what: "finds its files in /tmp and its home again in the next command",
    steps: () => [
      {
        script:
          "echo kept > /tmp/lathe-kept; echo also > ~/kept; mkdir -p ~/.cache/x; echo cached > ~/.cache/x/y",
      },
      { script: "cat /tmp/lathe-kept ~/kept ~/.cache/x/y; rm /tmp/lathe-kept" },
    ],
    says: /kept\nalso\ncached/,
  },
  {
    ...work,
    id: "work-terminal",
    what: "gets a terminal by script",
    tools: ["script"],
    steps: "script -qec 'tty; test -t 0 && echo is a terminal' /dev/null </dev/null",
    says: "is a terminal",
  },
  {
    ...work,
    id: "work-pty",
    what: "gets terminals by python's pty",
    tools: ["python3"],
    steps: python(`
import os, pty
m, s = pty.openpty(); print(os.ttyname(s)); os.write(s, b"hello\\n"); print(os.read(m, 20))
pid, fd = pty.fork()
if pid == 0: os.execvp("sh", ["sh", "-c", "test -t 1 && echo forked terminal"])
out = b""
while True:
    try: part = os.read(fd, 100)
    except OSError: break
    if not part: break
    out += part
print(out.decode())`),
    says: /hello[\s\S]*forked terminal/,
  },
  {
    ...work,
    id: "work-job-control",
    what: "starts jobs in groups of their own",
    steps: `set -m; sleep 0.05 & jobs -p | wc -l; wait; set +m; coproc cat; echo said >&\${COPROC[1]}; read -u \${COPROC[0]} line; echo $line; setsid --wait echo session; true`,
    says: /^1\n[\s\S]*said\nsession/,
  },
  {
    ...work,
    id: "work-limits",
    what: "sets limits for itself",
    steps: "ulimit -n; ulimit -c 0; (ulimit -t 5; ulimit -f 1000; echo limited); umask 022; umask",
    says: /limited\n0022/,
  },
  {
    ...work,
    id: "work-no-sudo",
    what: "goes on where sudo and the network fail",
    steps:
      "sudo -n true 2>/dev/null || echo without sudo; timeout 3 curl -s http://192.0.2.77/ || echo without network",
    says: /without network/,
  },
  {
    ...work,
    id: "work-environment",
    what: "finds the usual variables",
    steps:
      'test -n "$PATH" && test -d "$HOME" && test -d "$TMPDIR" && cd "$HOME" && pwd && cd - >/dev/null && touch here && echo usual; A=1 sh -c "echo a\\$A"; bash -lc "echo login"; env -i /bin/sh -c "echo bare"',
    says: /usual\na1\n(?:.*\n)*login\nbare/,
  },
];
