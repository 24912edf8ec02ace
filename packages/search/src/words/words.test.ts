import assert from "node:assert/strict";
import { it } from "node:test";
import { wordsOfText } from "./words.ts";

function isAmong(word: string, text: string): boolean {
  const known = wordsOfText(text);
  return wordsOfText(word).every((one) => known.includes(one));
}

it("knows an identifier whole and by its parts, however it is written", () => {
  for (const part of ["get", "user", "name", "getUserName", "get_user_name", "GET_USER_NAME"]) {
    assert.ok(isAmong(part, "getUserName"), part);
    assert.ok(isAmong(part, "get_user_name"), part);
  }
  assert.ok(isAmong("http", "HTTPServer") && isAmong("server", "HTTPServer"));
  assert.ok(isAmong("utf8", "decodeUtf8"));
  assert.ok(!isAmong("serverless", "HTTPServer"));
});

it("knows forms of a word as one", () => {
  const forms = [
    ["create", "creates", "creating", "created", "creation"],
    ["parse", "parser", "parsing", "parsed"],
    ["query", "queries"],
    ["call", "calls", "calling", "called"],
    ["validate", "validation", "validator"],
    ["class", "classes"],
  ];
  for (const [first = "", ...others] of forms) {
    for (const other of others) assert.deepEqual(wordsOfText(other), wordsOfText(first), other);
  }
  assert.notDeepEqual(wordsOfText("status"), wordsOfText("state"));
  assert.notDeepEqual(wordsOfText("bus"), wordsOfText("bu"));
});

it("leaves out keys and encoded data", () => {
  assert.deepEqual(wordsOfText("a".repeat(65)), []);
  assert.deepEqual(wordsOfText("x 1 ; =>"), []);
});
