/** Tests sentences that reveal a secret, and sentences that only mention one. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { tellsSecret } from "./told-secret.ts";

/** Generated here, so that scanners do not report keys in this file. */
const hash = createHash("sha512").update("made for this test").digest();
const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
const base62 = Array.from(hash, (byte) => letters.charAt(byte % 56)).join("");
const marked = base62.slice(0, 16).replace(/.{5}/gu, "$&^");

const secrets = [
  ...[8, 12, 16, 24].map((length) => `db password is ${base62.slice(-length)}`),
  `the api key is ${hash.toString("hex").slice(0, 32)}`,
  `the API-key: ${hash.toString("hex").slice(0, 20)}`,
  `secret key: ${hash.toString("base64")}`,
  `secret key: ${hash.subarray(0, 16).toString("base64")}`,
  `access token for the staging cluster -> ${hash.subarray(0, 24).toString("base64url")}.`,
  `the admin passphrase of the wiki is "${marked}"`,
  `use ${base62.slice(0, 20)} as the password of the test database`,
  `password of ci: (${base62.slice(20, 36)})`,
  `the apikey is ${hash.toString("hex").slice(0, 32)}`,
  `key of the map service: ${base62.slice(0, 20)}`,
  "the token of the mirror is xKmQvLpRtWzBnGhD",
];

const harmless = [
  "the password field is called pw",
  "api key is read from FOO_KEY",
  "the api key comes from OPENAI_API_KEY_2 in .env.local",
  "the secret lives in AWS at arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod",
  "tokens are refreshed in src/auth/oauth2Client.ts",
  "the token bug was fixed in 312e06b3",
  `the token bug was fixed in commit ${createHash("sha1").update("x").digest("hex")}`,
  `the password dump has sha256 ${hash.toString("hex")}`,
  "the token's audience is 6f1c1f0e-9a43-4a7b-8f55-0b1c2d3e4f50",
  "passwords are hashed with bcrypt, tokens signed with HMAC-SHA256 or AES-256-GCM",
  "the token expires on 2026-01-15T10:00:00Z",
  "the access token is asked at https://login.example.org/oauth2/v2/token",
  "password resets are mailed by noreply2@corp.io",
  "run ./scripts/rotate-secrets.sh v1.24.3-rc2 before the passwords of PostgreSQL16 run out",
  "the secret key is made by createPrivateKeyFromPem2048 in TokenFactory",
  "the password is <the one of 1Password>, op://vault/db/password",
  "the key of the cache is made by cacheKeyOf in src/cache/key.ts",
  "the passphrase is correct-horse-battery-staple",
  `the build server's disk is called ${base62.slice(0, 20)}`,
];

describe("a sentence that reveals a secret", () => {
  for (const text of secrets) it(`is one: ${text}`, () => assert.equal(tellsSecret(text), true));
  for (const text of harmless) it(`is none: ${text}`, () => assert.equal(tellsSecret(text), false));
});
