/** The public repositories of the retrieval benchmark: those the weights were chosen on, and those held out. */

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
const heldOut = ["pytest-dev/pytest", "square/okhttp", "sqlalchemy/sqlalchemy"];

const repository = (name: string, isHeldOut: boolean): BenchRepository => ({
  name,
  url: `https://github.com/${name}.git`,
  heldOut: isHeldOut,
});

export const repositories: readonly BenchRepository[] = [
  ...training.map((name) => repository(name, false)),
  ...heldOut.map((name) => repository(name, true)),
];
