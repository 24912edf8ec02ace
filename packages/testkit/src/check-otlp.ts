/** Checks whether a body follows the published OTLP .proto files, in the protocol's JSON form. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Field {
  readonly type: string;
  readonly isList: boolean;
}
type Messages = ReadonlyMap<string, ReadonlyMap<string, Field>>;

export type OtlpMessage = "ExportTraceServiceRequest" | "ExportMetricsServiceRequest";

const folder = join(import.meta.dirname, "fixtures", "opentelemetry-proto");
let known:
  | { readonly messages: Messages; readonly enums: ReadonlyMap<string, ReadonlySet<number>> }
  | undefined;

/** Returns its faults, one sentence each; message names are unique across the files read. */
export function checkOtlp(body: unknown, message: OtlpMessage): readonly string[] {
  known ??= readSchema();
  const problems: string[] = [];
  checkMessage(body, message, { path: message, problems });
  return problems;
}

function readSchema(): NonNullable<typeof known> {
  const texts = readdirSync(folder).filter((name) => name.endsWith(".proto"));
  const messages = new Map<string, Map<string, Field>>();
  const enums = new Map<string, Set<number>>();
  for (const name of texts) {
    const text = readFileSync(join(folder, name), "utf8").replace(/\/\/.*|\/\*[\s\S]*?\*\//g, "");
    readFile(text, { messages, enums });
  }
  return { messages, enums };
}

const token =
  /\b(message|enum|oneof|service)\s+(\w+)\s*\{|(repeated\s+|optional\s+)?([\w.]+)\s+(\w+)\s*=\s*\d+\s*(?:\[[^\]]*\])?;|(\w+)\s*=\s*(\d+)\s*(?:\[[^\]]*\])?;|([{}])/g;

/** Messages and enums read so far. */
interface Schema {
  readonly messages: Map<string, Map<string, Field>>;
  readonly enums: Map<string, Set<number>>;
}

interface Block {
  readonly kind: string;
  readonly name: string;
}

function readFile(text: string, schema: Schema): void {
  const open: Block[] = [];
  for (const match of text.matchAll(token)) {
    const [, kind, name, , , , , , brace] = match;
    if (kind !== undefined && name !== undefined) open.push(opened({ kind, name }, schema));
    else if (brace === "}") open.pop();
    else if (brace === "{") open.push({ kind: "block", name: "" });
    else readLine(match, open, schema);
  }
}

function opened(block: Block, { messages, enums }: Schema): Block {
  if (block.kind === "message") messages.set(block.name, new Map());
  if (block.kind === "enum") enums.set(block.name, new Set());
  return block;
}

function readLine(match: RegExpMatchArray, open: readonly Block[], { messages, enums }: Schema): void {
  const [, , , label, type, field, , number] = match;
  if (number !== undefined) enums.get(open.at(-1)?.name ?? "")?.add(Number(number));
  if (type === undefined || field === undefined) return;
  const owner = open.findLast(({ kind }) => kind === "message")?.name ?? "";
  const isList = label?.startsWith("repeated") === true;
  messages.get(owner)?.set(camelCase(field), { type: type.split(".").at(-1) ?? type, isList });
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

interface Place {
  readonly path: string;
  readonly problems: string[];
}

function checkMessage(value: unknown, name: string, { path, problems }: Place): void {
  const fields = known?.messages.get(name);
  if (!fields) throw new Error(`no message ${name} in the .proto files`);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    problems.push(`${path} is no object`);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const field = fields.get(key);
    const at = `${path}.${key}`;
    if (!field) problems.push(`${at} is no field of ${name}`);
    else if (!field.isList) checkValue(inner, field.type, { path: at, problems });
    else if (!Array.isArray(inner)) problems.push(`${at} is no list`);
    else
      for (const [i, one] of inner.entries()) checkValue(one, field.type, { path: `${at}[${i}]`, problems });
  }
}

const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  bool: (value) => typeof value === "boolean",
  double: (value) => typeof value === "number" && Number.isFinite(value),
  uint32: isSmall,
  fixed32: isSmall,
  int32: isSmall,
  int64: (value) => /^-?\d+$/.test(String(value)) && typeof value === "string",
  uint64: isLong,
  fixed64: isLong,
  sfixed64: (value) => typeof value === "string" && /^-?\d+$/.test(value),
};

function isSmall(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value);
}

function isLong(value: unknown): boolean {
  return typeof value === "string" && /^\d+$/.test(value);
}

function checkValue(value: unknown, type: string, place: Place): void {
  const { path, problems } = place;
  const values = known?.enums.get(type);
  if (values) {
    // The protocol's JSON writes enums only as numbers.
    if (typeof value !== "number" || !values.has(value)) problems.push(`${path} is no ${type}`);
  } else if (type === "bytes") {
    const digits = path.endsWith("traceId") ? 32 : 16;
    if (typeof value !== "string" || !new RegExp(`^[\\da-f]{${digits}}$`).test(value) || /^0+$/.test(value))
      problems.push(`${path} is no id of ${digits} hexadecimal digits`);
  } else if (scalars[type]) {
    if (!scalars[type](value)) problems.push(`${path} is no ${type}`);
  } else checkMessage(value, type, place);
}
