/** Effects of database statements: those that only query, and all others. */
import type { Effect } from "@lathe/protocol";
import { callText, hasOption, optionValues, type ProgramCall, positional } from "../programs/program-call.ts";
import type { Word } from "../shell/word.ts";

/** Options with a statement, and the option for its file. */
const clients: Readonly<
  Record<string, { readonly code: readonly string[]; readonly file: readonly string[] }>
> = {
  psql: { code: ["-c", "--command"], file: ["-f", "--file"] },
  pgcli: { code: ["-c"], file: [] },
  cockroach: { code: ["-e", "--execute"], file: ["-f", "--file"] },
  mysql: { code: ["-e", "--execute"], file: [] },
  mariadb: { code: ["-e", "--execute"], file: [] },
  mycli: { code: ["-e"], file: [] },
  sqlcmd: { code: ["-Q", "-q"], file: ["-i"] },
  "clickhouse-client": { code: ["-q", "--query"], file: [] },
  clickhouse: { code: ["-q", "--query"], file: [] },
  duckdb: { code: ["-c"], file: [] },
  cqlsh: { code: ["-e", "--execute"], file: ["-f", "--file"] },
  snowsql: { code: ["-q", "--query"], file: ["-f"] },
  trino: { code: ["--execute"], file: ["-f"] },
  mongosh: { code: ["--eval"], file: [] },
  mongo: { code: ["--eval"], file: [] },
  bqsql: { code: [], file: [] },
};

const redisLooks: ReadonlySet<string> = new Set(
  (
    "get mget exists ttl pttl type keys scan dbsize info ping hget hgetall hkeys hlen hscan lrange llen smembers scard " +
    "sscan zrange zcard zscore zscan strlen getrange memory object client config time echo monitor xrange xlen xinfo " +
    "command lastsave role select auth hello"
  ).split(" "),
);

const mongoChanges =
  /\b(?:drop\w*|delete\w*|remove\w*|insert\w*|update\w*|replace\w*|findOneAnd\w+|findAndModify|rename\w*|create\w*|bulkWrite|shutdownServer|eval|runCommand|adminCommand)\s*\(|\bload\s*\(/u;

const looks =
  /^(?:select|show|explain|describe|desc|with|values|table|pragma|use|set\s+(?:search_path|statement_timeout|names)|begin|commit|rollback|analyze|help|\\|\.(?:tables|schema|indexes|indices|dump|headers|mode|databases|help|exit|quit|stats|width|separator|echo|timer|nullvalue))/iu;
const hides =
  /\b(?:insert|update|delete|drop|truncate|alter|create|grant|revoke|replace|merge|copy|call|vacuum|attach|into\s+(?:out|dump)file)\b|\\!|\\(?:copy|o|i|ir|w|g|gexec|setenv)\b|^\s*system\s/iu;

export function isDatabaseClient(program: string): boolean {
  return Object.hasOwn(clients, program);
}

/** Undefined if the program is no database client. */
export function sqlEffects(call: ProgramCall): readonly Effect[] | undefined {
  const { program, args } = call;
  if (program === "redis-cli" || program === "valkey-cli") return redisEffects(call);
  if (program === "sqlite3" || program === "duckdb") return sqliteEffects(call);
  const client = Object.hasOwn(clients, program) ? clients[program] : undefined;
  if (!client) return undefined;
  const statements = [...optionValues(args, ...client.code), ...clustered(args, client.code)];
  const isFile = client.file.length > 0 && hasOption(args, ...client.file);
  const isLooking = statements.every((statement) => isLookingAt(program, statement));
  const lists = hasOption(args, "-l", "--list", "--version", "--help") && statements.length === 0;
  if (lists) return [{ kind: "network", target: callText(call) }];
  // Without a statement it reads statements from elsewhere.
  if (statements.length === 0 || isFile || !isLooking) return [changing(call)];
  return [{ kind: "network", target: callText(call) }];
}

/** `-Atc 'select 1'`: the last of several letters. */
function clustered(args: readonly Word[], options: readonly string[]): readonly Word[] {
  const letters = options.filter((option) => option.length === 2).map((option) => option.slice(1));
  return args.flatMap(({ text }, i) =>
    /^-[A-Za-z]{2,}$/u.test(text) && letters.includes(text.slice(-1)) ? (args[i + 1] ?? []) : [],
  );
}

function changing(call: ProgramCall): Effect {
  return { kind: "network", target: callText(call), traits: ["shared", "irreversible"] };
}

function isLookingAt(program: string, { text, isLiteral }: Word): boolean {
  if (program.startsWith("mongo")) return isLiteral && !mongoChanges.test(text);
  return isLookingSql(text);
}

/** Values that the shell inserts leave a query a query, but an inserted verb would not. */
function isLookingSql(text: string): boolean {
  const plain = text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//gu, " ");
  const statements = plain
    .split(";")
    .map((one) => one.trim())
    .filter(Boolean);
  return statements.every((one) => looks.test(one) && !hides.test(one.replace(/'(?:[^']|'')*'/gu, "''")));
}

function redisEffects(call: ProgramCall): readonly Effect[] {
  const words = positional(
    call.args.filter(
      (_, i) => !/^-[hpanu]$/u.test(call.args[i - 1]?.text ?? "") || call.args[i]?.text.startsWith("-"),
    ),
  );
  const [verb] = words;
  if (hasOption(call.args, "--version", "--help", "--scan", "--stat", "--bigkeys") && !verb) return [];
  if (
    verb?.isLiteral &&
    redisLooks.has(verb.text.toLowerCase()) &&
    !/^(?:set|resetstat|rewrite|kill)$/iu.test(words[1]?.text ?? "")
  )
    return [{ kind: "network", target: callText(call) }];
  return [changing(call)];
}

/** A database in a file: a query reads it. */
function sqliteEffects(call: ProgramCall): readonly Effect[] {
  const values = optionValues(call.args, "-cmd", ...(call.program === "duckdb" ? ["-c", "-s", "-f"] : []));
  const [file, ...statements] = positional(call.args.filter((word) => !values.includes(word)));
  const given = [...statements, ...values];
  if (!file || hasOption(call.args, "-version", "--version", "-help")) return [];
  const isLooking = given.length > 0 && given.every(({ text }) => isLookingSql(text));
  if (isLooking || hasOption(call.args, "-readonly")) return [];
  if (/^(?::memory:|)$/u.test(file.text)) return [];
  const isScratch = /^\/(?:tmp|dev\/shm)\//u.test(file.text);
  return [{ kind: "write", target: file.glob, traits: isScratch ? ["destroys"] : ["irreversible"] }];
}
