import assert from "node:assert/strict";
import { it } from "node:test";
import { fc } from "@lathe/testkit/properties";
import { eachIdentifier, wordsOf, wordsOfText } from "./words.ts";

function isAmong(word: string, text: string): boolean {
  const known = wordsOfText(text);
  return wordsOfText(word).every((one) => known.includes(one));
}

it("finds an identifier whole and by its parts, in any spelling", () => {
  for (const part of ["get", "user", "name", "getUserName", "get_user_name", "GET_USER_NAME"]) {
    assert.ok(isAmong(part, "getUserName"), part);
    assert.ok(isAmong(part, "get_user_name"), part);
  }
  assert.ok(isAmong("http", "HTTPServer") && isAmong("server", "HTTPServer"));
  assert.ok(isAmong("utf8", "decodeUtf8"));
  assert.ok(!isAmong("serverless", "HTTPServer"));
});

it("treats forms of a word as one", () => {
  const forms = [
    ["create", "creates", "creating", "created", "creation"],
    ["parse", "parser", "parsing", "parsed"],
    ["query", "queries"],
    ["call", "calls", "calling", "called"],
    ["validate", "validation", "validator"],
    ["class", "classes"],
    ["retry", "retries", "retrying", "retried"],
    ["notify", "notified", "notifier"],
  ];
  for (const [first = "", ...others] of forms) {
    for (const other of others) assert.deepEqual(wordsOfText(other), wordsOfText(first), other);
  }
  assert.notDeepEqual(wordsOfText("status"), wordsOfText("state"));
  assert.notDeepEqual(wordsOfText("bus"), wordsOfText("bu"));
});

it("omits keys and encoded data", () => {
  assert.deepEqual(wordsOfText("a".repeat(65)), []);
  assert.deepEqual(wordsOfText("x 1 ; =>"), []);
});

it("finds words of other alphabets, in any case, with accents and joints", () => {
  for (const [word, text] of [
    ["größe", "die GRÖSSE der Datei"],
    ["файл", "Путь к Файлу: ФАЙЛ"],
    ["configuración", "la configuracion"],
    ["naïve", "nai\u0308ve"],
    ["настроек", "путьНастроек"],
    ["путь_настроек", "путьНастроек"],
    ["οδος", "ΟΔΟΣ"],
    ["ＡＰＩ", "the api"],
    ["get", "getÄnderung"],
    ["änderung", "getÄnderung"],
    ["schlüssel", "a→schlüssel«b"],
  ] as const)
    assert.ok(isAmong(word, text), `${word} in ${text}`);
  assert.ok(!isAmong("grote", "größe"));
});

it("indexes text without spaces by each two characters", () => {
  for (const [query, text] of [
    ["锁定账户", "校验密码是否正确，如果失败次数过多则锁定账户"],
    ["再設定", "パスワードを再設定するメール"],
    ["パスワード", "func(パスワードを再設定)"],
    ["ﾊﾟｽﾜｰﾄﾞ".normalize("NFKC"), "パスワード"],
    ["설정", "설정을 읽는다"],
    ["รหัสผ่าน", "ตรวจสอบรหัสผ่าน"],
    ["接口", "the API接口v2"],
    ["api", "the API接口v2"],
    ["锁", "加 锁 了"],
  ] as const)
    assert.ok(isAmong(query, text), `${query} in ${text}`);
  assert.ok(!isAmong("账户", "校验密码，账 户"));
  assert.notDeepEqual(wordsOfText("が"), wordsOfText("か"));
});

it("finds the same words wherever a text is cut between them, and in bytes that are not text", () => {
  const piece = fc.constantFrom(
    "锁定",
    "か゚",
    "größe",
    "get_Name",
    "ÄÖ",
    "x",
    "1",
    " ",
    "，",
    "→",
    "😀",
    "\u0301",
  );
  fc.assert(
    fc.property(fc.array(piece), fc.array(piece), (one, other) => {
      const [first, second] = [one.join(""), other.join("")];
      assert.deepEqual(wordsOfText(`${first}, ${second}`), [...wordsOfText(first), ...wordsOfText(second)]);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      let last = 0;
      eachIdentifier(bytes, (start, end) => {
        assert.ok(start >= last && end > start && end <= bytes.length);
        last = start;
        wordsOf(bytes, start, end);
      });
    }),
  );
});
