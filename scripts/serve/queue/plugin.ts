import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { kVoid, type Plugin, ProxyNodeBinding } from "miniflare";

import { readLocalModule } from "../../build/local-bindings.ts";
import { type Consumers, PLUGIN, TYPE } from "./bindings.ts";

const OBJECT = { className: "LocalQueue", serviceName: PLUGIN };

/** Miniflare's own, of its simulator of queues. */
const SIMULATOR = "workers/queues/broker.worker.js";
const CONSUMERS = "MINIFLARE_QUEUE_CONSUMERS";
const CONSUMER_PREFIX = "MINIFLARE_WORKER_";
const userService = (worker: string): string => `core:user:${worker}`;

/** With the consumers of all queues, as JSON. */
type Queue = { queue: string; consumers: string };
type Binding = { type: string; dev?: { options?: Queue } };

const queuesOf = ({ config }: Parameters<Plugin["getNodeBindings"]>[0]): [string, Queue][] =>
  Object.entries<Binding>(config.env ?? {}).flatMap(([name, { type, dev }]) =>
    type === `unsafe:${TYPE}` && dev?.options ? [[name, dev.options]] : [],
  );

const readSimulator = (): string =>
  readFileSync(
    join(dirname(createRequire(import.meta.url).resolve("miniflare")), SIMULATOR),
    "utf8",
  );

const plugin: Plugin = {
  bindingTypeDescription: "local queue",
  getBindings: (options) =>
    queuesOf(options).map(([name, { queue }]) => ({
      name,
      queue: { name: PLUGIN, props: { json: JSON.stringify({ queue }) } },
    })),
  getNodeBindings: (options) =>
    Object.fromEntries(queuesOf(options).map(([name]) => [name, new ProxyNodeBinding()])),
  getServices: async ({ options }) => {
    const [first] = queuesOf(options);
    if (!first) return undefined;
    const { name: workerName } = options.config;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- bindings.ts writes it.
    const byQueue = JSON.parse(first[1].consumers) as Consumers;
    const consumers = Object.entries(byQueue).map(
      ([queue, consumer]) => [queue, { ...consumer, workerName }] as const,
    );
    return [
      {
        name: PLUGIN,
        worker: {
          // Those of the simulator, whose module is part of this Worker.
          compatibilityDate: "2023-07-24",
          compatibilityFlags: ["nodejs_compat", "experimental", "service_binding_extra_handlers"],
          modules: [
            { name: "object.js", esModule: readLocalModule("queue/object") },
            { name: "simulator.js", esModule: readSimulator() },
          ],
          bindings: [
            // The simulator's names.
            { name: "MINIFLARE_OBJECT", durableObjectNamespace: OBJECT },
            { name: CONSUMERS, json: JSON.stringify(Object.fromEntries(consumers)) },
            { name: `${CONSUMER_PREFIX}${workerName}`, service: { name: userService(workerName) } },
          ],
          // In memory, as the simulator's: what waits is lost when the process ends, and requeued
          // by the schedule.
          durableObjectNamespaces: [
            { className: OBJECT.className, uniqueKey: PLUGIN, preventEviction: true },
          ],
          durableObjectStorage: { inMemory: kVoid },
        },
      },
    ];
  },
};

/** Read by Miniflare. */
export const plugins = { [PLUGIN]: plugin };
