import { QueueBrokerObject } from "./simulator.js";

/** By the simulator's name. */
type Bindings = { MINIFLARE_OBJECT: DurableObjectNamespace };

/** What the binding of a queue calls: passes each request on to the queue's object. */
export default {
  fetch(
    request: Request,
    { MINIFLARE_OBJECT: objects }: Bindings,
    ctx: ExecutionContext<{ queue: string }>,
  ) {
    const { queue } = ctx.props;
    return objects
      .get(objects.idFromName(queue))
      .fetch(request, { cf: { miniflare: { name: queue } } });
  },
};

/**
 * Miniflare's simulator of a queue, without its log: the service writes a line for each batch
 * itself.
 */
export class LocalQueue extends QueueBrokerObject {
  override async logWithLevel(): Promise<void> {}
}
