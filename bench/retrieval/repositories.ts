/** The public repositories of the retrieval benchmark: those the weights were learnt from, and those held out. */

export interface BenchRepository {
  readonly name: string;
  readonly url: string;
  readonly heldOut: boolean;
}

const training = [
  "fastify/fastify",
  "encode/httpx",
  "tokio-rs/tokio",
  "vuejs/core",
  "google/gson",
  "gin-gonic/gin",
  "redis/redis",
];
/** Their queries are learnt from, and not measured. */
const further = [
  "pallets/click",
  "honojs/hono",
  "expressjs/express",
  "scrapy/scrapy",
  "square/retrofit",
  "pallets/werkzeug",
];
const firstHeldOut = ["pytest-dev/pytest", "square/okhttp", "sqlalchemy/sqlalchemy"];
/** Held out, too: in six languages, named before any of them was measured. Three repositories say little of the rest. */
const furtherHeldOut = [
  "marshmallow-code/marshmallow",
  "markedjs/marked",
  "eemeli/yaml",
  "mockito/mockito",
  "caddyserver/caddy",
  "astral-sh/uv",
  "jqlang/jq",
];

const repository = (name: string, isHeldOut: boolean): BenchRepository => ({
  name,
  url: `https://github.com/${name}.git`,
  heldOut: isHeldOut,
});

export const repositories: readonly BenchRepository[] = [
  ...training.map((name) => repository(name, false)),
  ...[...firstHeldOut, ...furtherHeldOut].map((name) => repository(name, true)),
];

/** What the weights are learnt from. */
export const learntFrom: readonly BenchRepository[] = [...training, ...further].map((name) =>
  repository(name, false),
);
