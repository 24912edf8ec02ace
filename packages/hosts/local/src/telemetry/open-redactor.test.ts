/**
 * Secrets known by value: keys in environment and configuration, and tokens, but not paths named like keys.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createTokenCommand } from "@lathe/models";
import { openRedactor } from "./open-redactor.ts";

test("redacts everything sent to a provider, including a token that came later", async () => {
  const tokenCommand = [process.execPath, "-e", "console.log('token-of-a-command')"];
  const headers = {
    "x-gateway-key": "one-two-three-9",
    authorization: "Bearer plain-to-see",
    "x-team": "blue-team",
  };
  const { redact } = openRedactor({ env: {}, providers: { corp: { headers, tokenCommand } } });
  const clean = await redact("one-two-three-9 plain-to-see blue-team token-of-a-command");
  assert.match(clean, /^\[redacted corp-key #\w+\] \[redacted corp-key #\w+\] blue-team token-of-a-command$/);
  await createTokenCommand(tokenCommand, process.env)();
  assert.match(await redact("token-of-a-command"), /^\[redacted corp-key #\w+\]$/);
});

test("redacts values of the environment and the configuration, in other spellings, too", async () => {
  const env = {
    DEPLOY_TOKEN: "correct/horse+battery",
    SSH_AUTH_SOCK: "/tmp/ssh-abc/agent.1",
    API_KEY_COUNT: "12345678",
    TOKEN_SHORT: "abc",
    PATH: "/usr/bin:/bin:/usr/local/bin",
  };
  const { redact } = openRedactor({ env, providers: { mine: { apiKey: "plain words as a key" } } });
  const tag = /^\[redacted deploy-token #[0-9a-f]{4}\]$/;
  const direct = await redact(env.DEPLOY_TOKEN);
  assert.match(direct, tag);
  assert.equal(await redact(encodeURIComponent(env.DEPLOY_TOKEN)), direct);
  assert.match(
    await redact(Buffer.from(`user:${env.DEPLOY_TOKEN}`).toString("base64")),
    /\[redacted deploy-token/,
  );
  assert.match(await redact("plain words as a key"), /^\[redacted mine-key #/);
  const harmless = Object.values(env).slice(1).join(" ");
  assert.equal(await redact(harmless), harmless);
});
