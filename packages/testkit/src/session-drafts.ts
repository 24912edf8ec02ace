/** Drafts and owners for store tests. */
import assert from "node:assert/strict";
import { type Draft, type Failure, isFailure, type Owner } from "@lathe/protocol";

export function createdDraft(
  id: string,
  more: { cwd?: string; title?: string } = {},
): Draft<"session.created"> {
  const { cwd = "/work", title = "A title" } = more;
  const prompt = { system: "You are a test.", tools: [] };
  return { type: "session.created", data: { id, cwd, title, harness: "0.0.0", prompt } };
}

/** A small event that says `text` and changes nothing else. */
export function noticeDraft(text: string): Draft {
  return { type: "notice.posted", data: { about: "loop", text } };
}

export function testOwner(pid: number): Owner {
  return { host: "test-host", pid, startedAt: pid * 10 };
}

/** The value, or a failed test when it is a Failure. */
export function succeeded<T>(value: T | Failure): T {
  if (isFailure(value)) assert.fail(`${value.code}: ${value.text} ${value.cause ?? ""}`);
  return value;
}

/** Asserts a Failure with this code, and returns it. */
export function failedWith(code: Failure["code"], value: unknown): Failure {
  assert.ok(isFailure(value), `expected ${code}, got ${JSON.stringify(value)}`);
  assert.equal(value.code, code, value.text);
  return value;
}
