/** The rules everyone starts with: data, each with examples that a test holds it to. */
import type { Effect, Rule } from "@lathe/protocol";

/** A rule with effects it must and must not speak of. */
export interface ExemplaryRule extends Rule {
  readonly examples: { readonly matches: readonly Effect[]; readonly ignores: readonly Effect[] };
}

const secretFiles =
  "**/{.env,.env.local,.env.development,.env.production,.env.staging,.env.test,.env.*.local,.envrc," +
  "*.pem,*.key,*.p12,*.pfx,*.jks,*.keystore,id_rsa,id_dsa,id_ecdsa,id_ed25519,.netrc,.pgpass,.pypirc," +
  ".git-credentials,.htpasswd,credentials.json,service-account.json,secrets.json,secrets.yaml,secrets.yml,secrets.toml}";

const secretFolders = "**/{.ssh,.aws,.gnupg,.kube,.azure,.docker,.config/gcloud,.config/gh}/**";

const runsLater =
  "**/{.husky/**,.vscode/tasks.json,.vscode/settings.json,.mcp.json,lathe.json,.lathe/**,.claude/**}";

export const defaultRules: readonly ExemplaryRule[] = [
  {
    name: "git-internals",
    verdict: "deny",
    kinds: ["write", "delete"],
    target: "**/.git/**",
    why: "files in .git are git's own: use git commands",
    examples: {
      matches: [
        { kind: "write", target: ".git/hooks/pre-commit" },
        { kind: "delete", target: ".git" },
        { kind: "write", target: "/repo/sub/.git/config" },
      ],
      ignores: [
        { kind: "read", target: ".git/config" },
        { kind: "write", target: ".gitignore" },
        { kind: "write", target: ".github/workflows/ci.yml" },
      ],
    },
  },
  {
    name: "secret-files",
    verdict: "ask",
    kinds: ["read", "write", "delete"],
    target: secretFiles,
    why: "the file usually holds secrets",
    examples: {
      matches: [
        { kind: "read", target: ".env" },
        { kind: "read", target: "packages/api/.env.production" },
        { kind: "read", target: "certs/server.pem" },
        { kind: "write", target: "/root/.ssh/id_rsa" },
        { kind: "read", target: "config/secrets.yaml" },
      ],
      ignores: [
        { kind: "read", target: ".env.example" },
        { kind: "read", target: "src/env.ts" },
        { kind: "execute", target: "cat .env" },
      ],
    },
  },
  {
    name: "secret-folders",
    verdict: "ask",
    kinds: ["read", "write", "delete"],
    target: secretFolders,
    why: "the folder usually holds keys and logins",
    examples: {
      matches: [
        { kind: "read", target: "/home/me/.ssh/config" },
        { kind: "read", target: "/root/.aws/credentials" },
      ],
      ignores: [{ kind: "read", target: "docs/ssh/setup.md" }],
    },
  },
  {
    name: "runs-later",
    verdict: "ask",
    kinds: ["write", "delete"],
    target: runsLater,
    why: "the file is run or obeyed later, outside any sandbox",
    examples: {
      matches: [
        { kind: "write", target: ".vscode/tasks.json" },
        { kind: "write", target: ".husky/pre-commit" },
        { kind: "write", target: "lathe.json" },
      ],
      ignores: [
        { kind: "read", target: ".mcp.json" },
        { kind: "write", target: "package.json" },
      ],
    },
  },
  {
    name: "whole-folder",
    verdict: "ask",
    kinds: ["delete"],
    target: String.raw`{.,./,\*,./\*,..,../\*,/,/\*,~,~/\*,.\*,$HOME,$HOME/**}`,
    why: "everything in a folder would be deleted",
    examples: {
      matches: [
        { kind: "delete", target: "." },
        { kind: "delete", target: "/" },
        { kind: "delete", target: "*" },
      ],
      ignores: [
        { kind: "delete", target: "dist" },
        { kind: "delete", target: "build/*" },
      ],
    },
  },
  {
    name: "more-rights",
    verdict: "ask",
    kinds: ["execute"],
    target: "{sudo,su,doas,pkexec} *",
    why: "the command asks for more rights than yours",
    examples: {
      matches: [
        { kind: "execute", target: "sudo apt-get install jq" },
        { kind: "execute", target: "su" },
      ],
      ignores: [{ kind: "execute", target: "sum file" }],
    },
  },
  {
    name: "machine",
    verdict: "deny",
    kinds: ["execute"],
    target: "{mkfs*,fdisk *,parted *,shutdown *,reboot *,halt *,poweroff *,dd *of=/dev/*}",
    why: "the command changes the machine itself",
    examples: {
      matches: [
        { kind: "execute", target: "mkfs.ext4 /dev/sda1" },
        { kind: "execute", target: "reboot" },
        { kind: "execute", target: "dd if=/dev/zero of=/dev/sda" },
      ],
      ignores: [{ kind: "execute", target: "dd if=a of=b" }],
    },
  },
];
