import { Hono } from "hono";

import { apiRootOf } from "../shapes/urls.ts";
import type { WebEnv } from "./env.ts";

export const nodeInfo = new Hono<WebEnv>();

/**
 * Leads to `GET /api/v1/nodeinfo`. @see https://nodeinfo.diaspora.software/protocol, "Discovery"
 */
nodeInfo.get("/.well-known/nodeinfo", (c) =>
  c.json({
    links: [
      {
        rel: "http://nodeinfo.diaspora.software/ns/schema/2.1",
        href: `${apiRootOf(c.var.base)}/nodeinfo`,
      },
    ],
  }),
);
