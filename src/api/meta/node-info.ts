import { createRoute } from "@hono/zod-openapi";

import { EDGEFORGE_VERSION } from "../../domain/version.ts";
import { NodeInfo, toNodeInfo } from "../../shapes/meta/node-info.ts";
import { json } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { anyone } from "../guards/people.ts";

export const nodeInfo = endpoints();

nodeInfo.openapi(
  createRoute({
    method: "get",
    path: "/nodeinfo",
    operationId: "getNodeInfo",
    tags: ["miscellaneous"],
    summary: "Get the server's description for crawlers of social networks",
    middleware: [anyone()] as const,
    responses: { 200: json(NodeInfo, "The description") },
  }),
  (c) => c.json(toNodeInfo(EDGEFORGE_VERSION), 200),
);
