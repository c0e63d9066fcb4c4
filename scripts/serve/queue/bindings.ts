import { inProject } from "../../project.ts";

/** The plugin's name, and that of its type of bindings. */
export const PLUGIN = "local-queue";
export const TYPE = "local-queue-producer";

/** Who receives the messages of queues and in which batches, by queue, in Miniflare's format. */
export type Consumers = Readonly<Record<string, object>>;

/**
 * Bindings to local queues, for Miniflare's option `unsafeBindings`. Plugin.ts provides them.
 *
 * @param queues    The names of the queues, by binding.
 * @param consumers Their consumers, of which each is the Worker that has the bindings.
 */
export const localQueues = (queues: Readonly<Record<string, string>>, consumers: Consumers) =>
  Object.entries(queues).map(([name, queue]) => ({
    name,
    type: TYPE,
    plugin: { package: inProject("scripts/serve/queue/plugin.ts"), name: PLUGIN },
    // As text: Miniflare refuses options with absent values.
    options: { queue, consumers: JSON.stringify(consumers) },
  }));
