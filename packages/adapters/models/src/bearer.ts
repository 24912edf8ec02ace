/**
 * Adds a bearer token from a command to requests: the command runs when a token is needed, and again after a
 * refusal.
 */

import { type Failure, isFailure } from "@lathe/protocol";

/**
 * *Contract:* the token to send now; never throws. `refused` is the token that the server refused: return
 * another one.
 */
export type TokenSource = (refused?: string) => Promise<string | Failure>;

/** Headers in which the wires send keys. */
const keyHeaders = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

/** *Contract:* each token is in `secrets` before it is sent. */
export function withBearer(
  fetch: typeof globalThis.fetch,
  tokens: TokenSource,
  secrets: string[],
): typeof globalThis.fetch {
  const send = async (
    input: Parameters<typeof fetch>[0],
    init: Parameters<typeof fetch>[1],
    token: string,
  ): Promise<Response> => {
    if (!secrets.includes(token)) secrets.push(token);
    const sent = Object.entries((init?.headers ?? {}) as Record<string, string>);
    const headers = sent.filter(([name]) => !keyHeaders.includes(name.toLowerCase()));
    return fetch(input, {
      ...init,
      headers: { ...Object.fromEntries(headers), authorization: `Bearer ${token}` },
    });
  };
  return async (input, init) => {
    const token = given(await tokens());
    const answer = await send(input, init, token);
    if (answer.status !== 401) return answer;
    const other = given(await tokens(token));
    if (other === token) return answer;
    await answer.body?.cancel();
    return send(input, init, other);
  };
}

/** Throws like a server's refusal: the packages pass on thrown errors. */
function given(token: string | Failure): string {
  if (!isFailure(token)) return token;
  throw Object.assign(new Error(token.text, { cause: token.cause }), { statusCode: 401 });
}
