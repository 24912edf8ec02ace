/** Work that may wait until the first request is on its way, and is wanted soon after. */
import { isFailure, type Model, type Models } from "@lathe/protocol";

/** Milliseconds the first request needs to leave: what starts meanwhile delays it. */
const requestMs = 10;

/** The same models; the first attempt starts `work`, once its request had time to leave. */
export function afterFirstRequest(models: Models, work: () => Promise<unknown>): Models {
  let isStarted = false;
  const start = (): void => {
    if (isStarted) return;
    isStarted = true;
    setTimeout(() => void work(), requestMs).unref();
  };
  return {
    open: async (id) => {
      const model = await models.open(id);
      return isFailure(model) ? model : starting(model, start);
    },
  };
}

function starting(model: Model, start: () => void): Model {
  return {
    info: model.info,
    stream: (request, signal) => {
      start();
      return model.stream(request, signal);
    },
  };
}
