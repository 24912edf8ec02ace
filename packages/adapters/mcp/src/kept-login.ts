/** Kept login: what a person's login at a server left, and how a connection uses it; it opens no browser. */
import {
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError,
} from "@modelcontextprotocol/client";

/** All of it is secret. */
export interface Login {
  readonly client: StoredOAuthClientInformation;
  readonly tokens: StoredOAuthTokens;
}

export interface LoginStore {
  /** *Contract:* undefined without a login, or when the stored one cannot be read. */
  read(): unknown;
  /** *Contract:* for this user's eyes alone; undefined forgets. Throws what the file system throws. */
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

/** Sends the token, and has it refreshed; a login that ended is a matter of `lathe mcp login`. */
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
      // A refresh need not bring another refresh token.
      const { refresh_token } = login.tokens;
      store.write({ ...login, tokens: { ...(refresh_token && { refresh_token }), ...tokens } });
    },
    redirectToAuthorization: ended,
    saveCodeVerifier: () => undefined,
    codeVerifier: ended,
  };
}
