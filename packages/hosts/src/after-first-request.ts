/** Work that may wait until the first request is on its way, and must be done before the first answer is acted on. */
import { isFailure, type Model, type ModelPart, type Models } from "@lathe/protocol";

/**
 * The same models; the first attempt starts `work` once its request had time to leave, and its answer is handed over
 * when `work` is done.
 */
export function afterFirstRequest(models: Models, work: () => Promise<unknown>): Models {
  return {
    open: async (id) => {
      const model = await models.open(id);
      return isFailure(model) ? model : gated(model, work);
    },
  };
}

function gated(model: Model, work: () => Promise<unknown>): Model {
  return {
    info: model.info,
    async *stream(request, signal): AsyncIterable<ModelPart> {
      const start = setTimeout(() => void work(), requestMs);
      for await (const part of model.stream(request, signal)) {
        // The calls of an answer are judged by what contains them.
        if (part.type === "finished" && part.reason === "tool-calls") await work();
        yield part;
      }
      clearTimeout(start);
    },
  };
}

/** Time the first request needs to leave: what starts meanwhile delays it. */
const requestMs = 10;
