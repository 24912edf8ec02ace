/** @lathe/sandbox/registries: package registries that the project's files and the user's settings name. */
export type { RegistryPlace } from "./src/registries/own-registries.ts";
export {
  bringRegistries,
  hostsOfRegistries,
  registryPreset,
  withRegistries,
} from "./src/registries/project-registries.ts";
