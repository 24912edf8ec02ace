/** The packages whose changes the corpus uses: one list to train an engine on, one held out. */
import type { PackageVersions, Registry } from "./package-pairs.ts";

export const packageSets = ["training", "held-out"] as const;

export type PackageSet = (typeof packageSets)[number];

type Row = readonly [registry: Registry, name: string, ...versions: string[]];

const training: readonly Row[] = [
  ["npm", "rxjs", "7.5.5", "7.8.0"],
  ["npm", "express", "4.18.1", "4.18.2", "4.19.2"],
  ["npm", "axios", "1.4.0", "1.5.0", "1.6.0"],
  ["npm", "commander", "10.0.1", "11.0.0"],
  ["npm", "eslint", "8.40.0", "8.42.0"],
  ["pip", "click", "8.1.3", "8.1.7"],
  ["pip", "requests", "2.28.2", "2.31.0"],
  ["pip", "flask", "2.2.5", "2.3.2"],
  ["pip", "rich", "13.3.5", "13.5.2"],
  ["pip", "jinja2", "3.0.3", "3.1.2"],
  ["go", "github.com/spf13/cobra", "v1.7.0", "v1.8.0"],
  ["go", "github.com/stretchr/testify", "v1.8.1", "v1.8.4"],
  ["go", "github.com/gin-gonic/gin", "v1.8.1", "v1.9.1"],
  ["go", "github.com/sirupsen/logrus", "v1.8.1", "v1.9.3"],
  ["cargo", "anyhow", "1.0.70", "1.0.80"],
  ["cargo", "serde_json", "1.0.90", "1.0.105"],
  ["cargo", "regex-syntax", "0.7.2", "0.8.2"],
  ["cargo", "bitflags", "2.3.3", "2.4.1"],
  ["maven", "com.google.code.gson:gson", "2.9.1", "2.10.1"],
  ["maven", "org.apache.commons:commons-lang3", "3.11", "3.12.0"],
  ["maven", "junit:junit", "4.12", "4.13.2"],
];

const heldOut: readonly Row[] = [
  ["npm", "redux", "5.0.0-beta.0", "5.0.1"],
  ["npm", "@reduxjs/toolkit", "1.9.5", "1.9.7", "2.0.1"],
  ["npm", "ajv", "8.11.0", "8.12.0"],
  ["npm", "koa", "2.14.1", "2.15.0"],
  ["npm", "fastify", "4.20.0", "4.24.3"],
  ["npm", "mocha", "10.1.0", "10.2.0"],
  ["npm", "chai", "4.3.7", "4.3.10"],
  ["pip", "werkzeug", "2.2.3", "2.3.7"],
  ["pip", "httpx", "0.23.3", "0.24.1", "0.25.1"],
  ["pip", "urllib3", "1.26.15", "2.0.4"],
  ["pip", "starlette", "0.27.0", "0.31.1"],
  ["pip", "pydantic", "1.10.7", "1.10.13"],
  ["go", "github.com/labstack/echo/v4", "v4.10.2", "v4.11.3"],
  ["go", "github.com/go-chi/chi/v5", "v5.0.8", "v5.0.10"],
  ["go", "go.uber.org/zap", "v1.24.0", "v1.26.0"],
  ["cargo", "hashbrown", "0.14.0", "0.14.3"],
  ["cargo", "indexmap", "2.0.0", "2.1.0"],
  ["cargo", "once_cell", "1.17.0", "1.18.0"],
  ["cargo", "smallvec", "1.10.0", "1.13.1"],
  ["cargo", "memchr", "2.5.0", "2.6.4"],
  ["maven", "commons-io:commons-io", "2.11.0", "2.13.0"],
  ["maven", "com.fasterxml.jackson.core:jackson-core", "2.14.2", "2.15.3"],
  ["maven", "org.slf4j:slf4j-api", "1.7.36", "2.0.9"],
];

export function packagesOf(set: PackageSet, wanted: readonly Registry[]): PackageVersions[] {
  return (set === "training" ? training : heldOut)
    .filter(([registry]) => wanted.includes(registry))
    .map(([registry, name, ...versions]) => ({ registry, name, versions }));
}
