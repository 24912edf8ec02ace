/** Kept login: a person's stored login at a server, and how a connection uses it; it opens no browser. */
import {
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError,
} from "@modelcontextprotocol/client";

/** All fields are secret. */
export interface Login {
  readonly client: StoredOAuthClientInformation;
  readonly tokens: StoredOAuthTokens;
}

export interface LoginStore {
  /** *Contract:* undefined if there is no login, or the stored one cannot be read. */
  read(): unknown;
  /** *Contract:* only this user can read it; undefined deletes it. Throws the file system's errors. */
  write(login: Login | undefined): void;
}

export function readLogin(store: LoginStore): Login | undefined {
  const { client, tokens } = Object(store.read()) as Partial<Login>;
  const isWhole = typeof client?.client_id === "string" && typeof tokens?.access_token === "string";
  return client && tokens && isWhole ? { client, tokens } : undefined;
}

export function clientMetadata(redirect: string): OAuthClientMetadata {
  return {
    client_name: "Lathe",
    redirect_uris: [redirect],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

/** Sends the token, and refreshes it; an expired login needs `lathe mcp login`. */
export function keptLogin(store: LoginStore): OAuthClientProvider {
  const ended = (): never => {
    throw new UnauthorizedError("the login has ended");
  };
  return {
    redirectUrl: "http://127.0.0.1/callback",
    clientMetadata: clientMetadata("http://127.0.0.1/callback"),
    clientInformation: () => readLogin(store)?.client,
    tokens: () => readLogin(store)?.tokens,
    saveTokens: (tokens) => {
      const login = readLogin(store);
      if (!login) return;
      // A refresh may omit a new refresh token.
      const { refresh_token } = login.tokens;
      store.write({ ...login, tokens: { ...(refresh_token && { refresh_token }), ...tokens } });
    },
    redirectToAuthorization: ended,
    saveCodeVerifier: () => undefined,
    codeVerifier: ended,
  };
}
