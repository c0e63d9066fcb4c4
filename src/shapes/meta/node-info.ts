import { z } from "@hono/zod-openapi";

import { Int64 } from "../json.ts";

const NodeInfoSoftware = z
  .object({ name: z.string(), version: z.string() })
  .openapi("NodeInfoSoftware");

const NodeInfoServices = z
  .object({ inbound: z.array(z.string()), outbound: z.array(z.string()) })
  .openapi("NodeInfoServices");

const NodeInfoUsageUsers = z
  .object({
    total: Int64.optional(),
    activeHalfyear: Int64.optional(),
    activeMonth: Int64.optional(),
  })
  .openapi("NodeInfoUsageUsers");

const NodeInfoUsage = z
  .object({
    users: NodeInfoUsageUsers,
    localPosts: Int64.optional(),
    localComments: Int64.optional(),
  })
  .openapi("NodeInfoUsage");

/** A server's description of itself for crawlers of social networks. */
export const NodeInfo = z
  .object({
    version: z.string().openapi({ description: "Version of this schema" }),
    software: NodeInfoSoftware,
    protocols: z.array(z.string()).openapi({
      description: "Protocols of federation that the server speaks",
    }),
    services: NodeInfoServices,
    openRegistrations: z.boolean(),
    usage: NodeInfoUsage,
    metadata: z.object({}).openapi({ additionalProperties: true }),
  })
  .openapi("NodeInfo");

/**
 * The service never reports how many accounts it has: counting them would read them all, for anyone
 * who asks, and includes accounts that the caller may not see.
 *
 * @see https://nodeinfo.diaspora.software/protocol, schema 2.1
 */
export const toNodeInfo = (version: string): z.infer<typeof NodeInfo> => ({
  version: "2.1",
  software: { name: "edgeforge", version },
  protocols: [],
  services: { inbound: [], outbound: [] },
  openRegistrations: false,
  usage: { users: {} },
  metadata: {},
});
