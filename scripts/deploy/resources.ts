import type { z } from "zod";

import type { WranglerToml } from "../tools/wrangler-toml.ts";

/** Something that has to exist on the account before the Worker can be bound to it. */
export type Resource = {
  /** The wrangler command that fails when there is none. */
  look: string[];
  create: string[];
};

/** Durable Objects, crons and assets are not here: a deployment makes them itself. */
export function resourcesOf(toml: z.infer<typeof WranglerToml>): Resource[] {
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
  return { look: [...kind, "info", name], create: [...kind, "create", name] };
}
