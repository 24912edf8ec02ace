/** The default rules: data, each with examples that a test checks. */
import { type Effect, type Rule, runLaterGlob } from "@lathe/protocol";

/** A rule with effects it must and must not match. */
export interface ExemplaryRule extends Rule {
  readonly examples: { readonly matches: readonly Effect[]; readonly ignores: readonly Effect[] };
}

const secretFiles =
  "**/{.env,.env.*,.env~,*.env,.envrc,*.tfstate*," +
  "*.pem,*.key,*.p12,*.pfx,*.jks,*.keystore,id_rsa,id_dsa,id_ecdsa,id_ed25519,.netrc,.pgpass,.pypirc," +
  ".git-credentials,.htpasswd,credentials.json,service-account.json,secrets.json,secrets.yaml,secrets.yml,secrets.toml," +
  ".npmrc,.my.cnf,.mylogin.cnf,.vault-token,.s3cfg,.boto,.dockercfg,.authinfo,.authinfo.gpg,.pgpass,.fetchmailrc,.msmtprc," +
  ".*_history,fish_history,.zhistory,.lesshst,.viminfo,kubeconfig,*.kubeconfig,*.kdbx,*.keychain-db,*.ppk,*.ovpn," +
  "application_default_credentials.json,.terraformrc,credentials.tfrc.json,ssh_host_*_key,logins.json,key4.db," +
  "cookies.sqlite}";

/** Files that list the available settings, without values. */
const emptySettings = ["example", "sample", "template", "tmpl", "tpl", "dist", "default", "defaults"];

/** With other capitalization these are ordinary names. */
const browserFiles = "**/{Login Data,Cookies,Local State}";

const secretFolders =
  "**/{.ssh,.aws,.gnupg,.kube,.azure,.docker,.oci,.bluemix,.password-store,.mozilla,.thunderbird,.local/share/keyrings," +
  ".config/gcloud,.config/gh,.config/glab-cli,.config/op,.config/doctl,.config/rclone,.config/heroku,.config/google-chrome," +
  ".config/chromium,.config/BraveSoftware,.config/microsoft-edge,.config/sops,.config/hub,.config/git/credentials," +
  ".cargo/credentials,.cargo/credentials.toml,.gem/credentials,.m2/settings-security.xml,Library/Keychains," +
  "Library/Application Support/Google/Chrome,Library/Application Support/Firefox}/**";

const machineSecrets =
  "/{etc/shadow,etc/shadow-,etc/gshadow,etc/sudoers,etc/sudoers.d/**,etc/krb5.keytab,etc/ssl/private/**,etc/wireguard/**," +
  "etc/NetworkManager/system-connections/**,etc/kubernetes/**,proc/*/environ,proc/*/mem,proc/kcore,dev/mem,run/secrets/**," +
  "var/run/secrets/**,var/lib/docker/**,var/lib/kubelet/**,run/credentials/**,run/user/*/keyring/**}";

const madeUpFolders = ["fixtures", "__fixtures__", "testdata", "test-data", "mocks", "__mocks__"];
const noSecrets = `**/{${[
  ...madeUpFolders.map((name) => `${name}/**`),
  ...emptySettings.flatMap((name) => [`.env.*${name}`, `*${name}.env`]),
].join()}}`;

function read(target: string): Effect {
  return { kind: "read", target };
}

function write(target: string): Effect {
  return { kind: "write", target };
}

export const defaultRules: readonly ExemplaryRule[] = [
  {
    name: "git-internals",
    verdict: "deny",
    kinds: ["write", "delete"],
    target: "**/.git/**",
    ignoreCase: true,
    why: "git manages its own files: use git commands",
    examples: {
      matches: [
        { kind: "write", target: ".git/hooks/pre-commit" },
        { kind: "delete", target: ".git" },
        { kind: "write", target: "/repo/sub/.git/config" },
        { kind: "write", target: "sub/.GIT/config" },
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
    except: noSecrets,
    ignoreCase: true,
    why: "the file usually holds secrets",
    examples: {
      matches: [
        { kind: "read", target: ".env" },
        { kind: "read", target: "packages/api/.env.production" },
        { kind: "read", target: "certs/server.pem" },
        { kind: "write", target: "/root/.ssh/id_rsa" },
        { kind: "read", target: "config/secrets.yaml" },
        { kind: "read", target: "~/.bash_history" },
        ...[".env.prod", ".env.local.bak", ".env~", "config/prod.env", "terraform.tfstate.backup"].map(read),
        ...[".ENV", "keys/ID_RSA"].map(read),
      ],
      ignores: [
        ...[".env.local.example", "sample.env", ".env.Dist", "environment.env.ts", "src/env/index.ts"].map(
          read,
        ),
        ...[".envrc.example", ".environment", "main.tf"].map(read),
        { kind: "read", target: "test/fixtures/fake-key.pem" },
        { kind: "read", target: ".env.example" },
        { kind: "read", target: "src/env.ts" },
        { kind: "execute", target: "cat .env" },
      ],
    },
  },
  {
    name: "browser-files",
    verdict: "ask",
    kinds: ["read", "write", "delete"],
    target: browserFiles,
    except: noSecrets,
    why: "it holds browser logins",
    examples: {
      matches: [{ kind: "read", target: "Profile 1/Login Data" }],
      ignores: [{ kind: "read", target: "src/cookies" }],
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
        { kind: "read", target: "~/.cargo/credentials.toml" },
      ],
      ignores: [{ kind: "read", target: "docs/ssh/setup.md" }],
    },
  },
  {
    name: "machine-secrets",
    verdict: "ask",
    kinds: ["read", "write", "delete"],
    target: machineSecrets,
    why: "it holds keys or logins of the machine",
    examples: {
      matches: [
        { kind: "read", target: "/etc/shadow" },
        { kind: "read", target: "/proc/1/environ" },
        { kind: "read", target: "/run/secrets/db" },
      ],
      ignores: [
        { kind: "read", target: "/etc/hosts" },
        { kind: "read", target: "/proc/cpuinfo" },
      ],
    },
  },
  {
    name: "runs-later",
    verdict: "ask",
    kinds: ["write", "delete"],
    target: runLaterGlob(),
    ignoreCase: true,
    why: "the file can take effect later, outside the sandbox",
    examples: {
      matches: [
        { kind: "write", target: ".vscode/tasks.json" },
        { kind: "write", target: ".husky/pre-commit" },
        { kind: "write", target: "lathe.json" },
        { kind: "write", target: ".claude/settings.local.json" },
        { kind: "write", target: ".agents/hooks.json" },
        { kind: "delete", target: "sub/.agents/skills" },
        ...["opencode.json", ".opencode/plugin/x.js", ".lvimrc", ".kiro/settings/mcp.json"].map(write),
        ...[".helix/languages.toml", ".vim/coc-settings.json", ".cargo/config.toml", "mise.toml"].map(write),
        ...[".VSCODE/tasks.json", "sub/.Claude/x", "Lathe.json", ".v\u017fcode/tasks.json"].map(write),
        ...["a.CODE-workspace", "mise.ci.toml", ".config/mise/conf.d/a.toml", "x/.hg/hgrc"].map(write),
      ],
      ignores: [
        { kind: "read", target: ".mcp.json" },
        ...["package.json", "Makefile", ".github/workflows/ci.yml", "AGENTS.md", "tsconfig.json"].map(write),
        ...["Dockerfile", ".gitignore", ".editorconfig", ".pre-commit-config.yaml", ".pnp.cjs"].map(write),
        ...["mise/readme.md", "cargo/config.toml", ".yarn/cache/a.zip", "src/lefthook.go"].map(write),
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
    why: "the command needs elevated privileges",
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
