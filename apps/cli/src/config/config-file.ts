/** Configuration files: reading one and checking it. Loaded only when there is one. */
import { type Failure, failure, type Mode, modes, type Rule } from "@lathe/protocol";
import * as v from "valibot";
import type { ConfigPart } from "./config.ts";

const positive = v.pipe(v.number(), v.minValue(0));
const model = v.union([v.string(), v.array(v.string())], "a model id or a list of them");
const mode: v.GenericSchema<unknown, Mode> = v.picklist(modes, `one of ${modes.join(", ")}`);
const limits = v.strictObject({
  steps: v.exactOptional(positive),
  tokens: v.exactOptional(positive),
  cost: v.exactOptional(positive),
  wallMs: v.exactOptional(positive),
  failures: v.exactOptional(positive),
});

const kinds = v.picklist(["read", "write", "delete", "execute", "network", "vcs", "process"]);
const ruleBody = {
  name: v.string(),
  kinds: v.exactOptional(v.array(kinds)),
  target: v.exactOptional(v.string()),
  why: v.exactOptional(v.string()),
};
const rule: v.GenericSchema<unknown, Rule> = v.strictObject({
  ...ruleBody,
  verdict: v.picklist(["allow", "ask", "deny"]),
});
const tighteningRule: v.GenericSchema<unknown, Rule> = v.strictObject({
  ...ruleBody,
  verdict: v.picklist(["ask", "deny"], 'a project may only "ask" or "deny"; allow in your own configuration'),
});
const provider = v.strictObject({
  baseUrl: v.exactOptional(v.string()),
  apiKey: v.exactOptional(v.string()),
  headers: v.exactOptional(v.record(v.string(), v.string())),
});

/** A project comes from others: it may tighten, not loosen, and names no address, key or header. */
const projectSchema: v.GenericSchema<unknown, ConfigPart> = v.strictObject({
  $schema: v.exactOptional(v.string()),
  model: v.exactOptional(model),
  mode: v.exactOptional(mode),
  limits: v.exactOptional(limits),
  rules: v.exactOptional(v.array(tighteningRule)),
});

const userSchema: v.GenericSchema<unknown, ConfigPart> = v.strictObject({
  $schema: v.exactOptional(v.string()),
  model: v.exactOptional(model),
  mode: v.exactOptional(mode),
  limits: v.exactOptional(limits),
  rules: v.exactOptional(v.array(rule)),
  sandbox: v.exactOptional(v.boolean()),
  providers: v.exactOptional(v.record(v.string(), provider)),
});

/** The file's part of the configuration; a failure names the file and the key. */
export function readConfigText(path: string, text: string, whose: "project" | "user"): ConfigPart | Failure {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return failure("config-invalid", `${path} is not valid JSON: ${(cause as Error).message}`, {
      who: "user",
      cause,
    });
  }
  const checked = v.safeParse(whose === "project" ? projectSchema : userSchema, value);
  if (checked.success) return checked.output;
  const [issue] = checked.issues;
  const key = v.getDotPath(issue) ?? "the whole file";
  return failure("config-invalid", `${path}: ${key}: ${complaint(issue, whose)}`, { who: "user" });
}

function complaint(issue: v.BaseIssue<unknown>, whose: "project" | "user"): string {
  if (issue.expected !== "never") return issue.message;
  const elsewhere = whose === "project" && /^(providers|sandbox)$/.test(v.getDotPath(issue) ?? "");
  return elsewhere ? "only your own configuration may set this, not a project's" : "there is no such key";
}
