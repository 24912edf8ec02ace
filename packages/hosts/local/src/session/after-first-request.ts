/** Work that may wait until the first request has been sent, but is needed soon after. */
import { isFailure, type Model, type Models } from "@lathe/protocol";

/** Milliseconds until the first request has been sent: work that starts sooner delays it. */
const requestMs = 10;

/** The same models; the first attempt also starts `work`, shortly after its request. */
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
