/** @lathe/hosts/models: the models that this user reaches: listed, tried, priced, chosen by the router. */
export {
  type ListedModel,
  listModels,
  type ModelOptions,
  refreshModels,
  registryUrl,
} from "./src/models/list-models.ts";
export { priceOfTakeOver, type TakeOver } from "./src/models/take-over-price.ts";
export { type TestedModel, testModels } from "./src/models/test-models.ts";
export { type RoutedTask, routeModels } from "./src/routing/route-models.ts";
export { type TrainedRouter, trainRouter } from "./src/routing/train-router.ts";
