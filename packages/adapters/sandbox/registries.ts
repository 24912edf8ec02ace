/** @lathe/sandbox/registries: the registries that commands may need, as the project's files and the user's settings name them. */
export type { RegistryPlace } from "./src/registries/own-registries.ts";
export {
  bringRegistries,
  hostsOfRegistries,
  registryPreset,
  withRegistries,
} from "./src/registries/project-registries.ts";
