import type { z } from "zod";

import type { WranglerToml } from "../tools/wrangler-toml.ts";

/** A resource that must exist in the account before the Worker can be bound to it. */
export type Resource = {
  /** The wrangler command that fails if the resource does not exist. */
  find: string[];
  create: string[];
};

/** Durable Objects, crons and assets are not included: the deployment creates them. */
export function resourcesOf(
  toml: Pick<z.infer<typeof WranglerToml>, "d1_databases" | "r2_buckets" | "queues">,
): Resource[] {
  const { producers, consumers } = toml.queues;
  const queues = [...producers, ...consumers].map(({ queue }) => queue);
  const deadLetters = consumers.flatMap((consumer) => consumer.dead_letter_queue ?? []);
  return [
    ...toml.d1_databases.map((database) => resource(["d1"], database.database_name)),
    ...toml.r2_buckets.map((bucket) => resource(["r2", "bucket"], bucket.bucket_name)),
    ...[...new Set([...queues, ...deadLetters])].map((queue) => resource(["queues"], queue)),
  ];
}

function resource(kind: string[], name: string): Resource {
  return { find: [...kind, "info", name], create: [...kind, "create", name] };
}
