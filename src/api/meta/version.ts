import { createRoute } from "@hono/zod-openapi";

import { SERVER_VERSION } from "../../domain/version.ts";
import { ServerVersion, toServerVersion } from "../../shapes/meta/server-version.ts";
import { json } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { anyone } from "../guards/people.ts";

export const version = endpoints();

version.openapi(
  createRoute({
    method: "get",
    path: "/version",
    operationId: "getVersion",
    tags: ["miscellaneous"],
    summary: "Get the version of the server",
    middleware: [anyone()] as const,
    responses: { 200: json(ServerVersion, "The version") },
  }),
  (c) => c.json(toServerVersion(SERVER_VERSION), 200),
);
