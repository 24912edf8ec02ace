/** Programs that print keys, logins or contents of vaults: data, program -> word forms with which they do. */

import type { Word } from "../shell/word.ts";
import { hasOption, type ProgramCall, positional } from "./program-call.ts";

/** Forms are separated by `|`; a star matches one word, and an option must be among the arguments. */
const forms: Readonly<Record<string, string>> = {
  gh: "auth token|auth status --show-token|auth status -t",
  glab: "auth status --show-token|auth status -t|config get token",
  aws: "configure get|configure export-credentials|sts get-session-token|sts get-federation-token|sts assume-*|secretsmanager get-*|secretsmanager batch-get-*|ssm get-parameter*|ecr get-*|ecr-public get-*|codeartifact get-authorization-token|kms decrypt|eks get-token|rds generate-*|sso get-*|iam create-access-key",
  gcloud:
    "auth print-*|auth application-default print-*|secrets versions access|config config-helper|kms decrypt|sql generate-login-token",
  az: "account get-access-token|keyvault secret show|keyvault secret download|keyvault key download|acr credential show|acr login --expose-token|storage account keys|* * keys list|* keys list|ad sp create-for-rbac|webapp deployment list-publishing-*|functionapp keys|cosmosdb keys|redis list-keys",
  kubectl: "get secret|get secrets|get secret/*|get secrets/*|config view --raw|describe secret|create token",
  oc: "get secret|get secrets|whoami -t|whoami --show-token|extract",
  helm: "get values|get all",
  vault: "kv get|read|token create|unwrap|print token|login|kv export",
  op: "read|item get|document get|inject|signin|get|run",
  rbw: "get|list|code",
  bw: "get|list|unlock|export|login",
  lpass: "show|export|ls",
  pass: "show|*|",
  gopass: "show|*",
  passage: "show|*",
  "keepassxc-cli": "show|export|clip|attachment-export",
  "secret-tool": "lookup|search",
  security: "find-generic-password|find-internet-password|dump-keychain|export|unlock-keychain",
  keyring: "get",
  "kwallet-query": "*|",
  gpg: "--export-secret-keys|--export-secret-subkeys|-d|--decrypt|--decrypt-files",
  gpg2: "--export-secret-keys|-d|--decrypt",
  age: "-d|--decrypt",
  sops: "-d|--decrypt|decrypt|exec-env|exec-file|edit|",
  "ansible-vault": "view|decrypt|edit",
  "git-crypt": "unlock|export-key",
  blackbox_cat: "*",
  chamber: "read|export|exec|env|list",
  doppler: "secrets|run",
  infisical: "secrets|export|run",
  dotenvx: "get|decrypt|keypair",
  "dotenv-vault": "pull|decrypt|open|keys",
  heroku: "config|config:get|auth:token|pg:credentials*|authorizations*",
  fly: "auth token|tokens *",
  flyctl: "auth token|tokens *",
  railway: "variables|run",
  vercel: "env pull|env export",
  netlify: "env:get|env:list|env:export",
  firebase: "functions:secrets:access|functions:config:get|login:ci",
  wrangler: "auth token",
  doctl: "auth token|kubernetes cluster kubeconfig",
  pulumi:
    "config --show-secrets|config get --show-secrets|stack output --show-secrets|stack export --show-secrets|config get",
  terraform: "output -raw|output -json|state pull",
  tofu: "output -raw|output -json|state pull",
  npm: "token list|config get //*|config get _auth*|config get *:_*|config list -l|get //*",
  pnpm: "config get //*",
  yarn: "config get npmAuthToken|config get npmRegistries --no-defaults",
  "docker-credential-*": "get|list",
  docker: "config inspect",
  git: "credential fill|credential-store get|credential-cache get",
  "ssh-add": "-L",
  "ssh-keygen": "-y",
  printenv: "*TOKEN*|*SECRET*|*PASSW*|*API_KEY*|*ACCESS_KEY*|*PRIVATE_KEY*|*CREDENTIAL*",
  klist: "-K",
  ykman: "oath accounts code|oath accounts",
  oathtool: "*",
  "aws-vault": "exec|export|login",
  saml2aws: "script|exec|login",
  teller: "*",
  consul: "acl token read|acl token list",
  nomad: "acl token *|var get",
  databricks: "auth token|secrets get-secret|tokens create",
  snowsql: "--generate-jwt",
  stripe: "config --list",
  circleci: "config get token",
  getent: "shadow|gshadow",
  mysql_config_editor: "print",
};
const patterns = Object.entries(forms).filter(([name]) => name.includes("*"));

export function isPrintingSecrets(call: ProgramCall): boolean {
  const { program } = call;
  const own = Object.hasOwn(forms, program)
    ? forms[program]
    : patterns.find(([name]) => like(name).test(program))?.[1];
  if (own === undefined || hasOption(call.args, "--help", "--version")) return false;
  return own.split("|").some((form) => fits(form, call));
}

/** An empty form matches no words at all. Options of a form may be anywhere. */
function fits(form: string, { args }: ProgramCall): boolean {
  const all = positional(args);
  // A word after an option may be its value.
  const plain = all.filter((word) => !/^-[^=]*$/u.test(args[args.indexOf(word) - 1]?.text ?? ""));
  return isForm(form, all, args) || isForm(form, plain, args);
}

function isForm(form: string, given: readonly Word[], args: readonly Word[]): boolean {
  const words = given.map(({ text }) => text);
  if (form === "") return args.length === 0;
  const parts = form.split(" ");
  const options = parts.filter((part) => part.startsWith("-"));
  const names = parts.filter((part) => !part.startsWith("-"));
  const isGiven = options.every((option) =>
    args.some(({ text }) => text === option || text.startsWith(`${option}=`)),
  );
  return isGiven && names.every((name, i) => words[i] !== undefined && like(name).test(words[i] ?? ""));
}

function like(name: string): RegExp {
  return new RegExp(`^${name.replace(/[.+?^${}()[\]\\/]/gu, "\\$&").replaceAll("*", ".*")}$`, "u");
}
