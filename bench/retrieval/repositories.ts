/** The public repositories of the retrieval benchmark: the training set, and those held out. */

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
/** Also used for training, but not measured. */
const further = [
  "pallets/click",
  "honojs/hono",
  "expressjs/express",
  "scrapy/scrapy",
  "square/retrofit",
  "pallets/werkzeug",
];
const firstHeldOut = ["pytest-dev/pytest", "square/okhttp", "sqlalchemy/sqlalchemy"];
/**
 * Also held out: six languages, chosen before any was measured, since three repositories say little about
 * others.
 */
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

/** The training set of the weights. */
export const learntFrom: readonly BenchRepository[] = [...training, ...further].map((name) =>
  repository(name, false),
);
