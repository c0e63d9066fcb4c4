import { createRoute, z } from "@hono/zod-openapi";

import { linkPackage, unlinkPackage } from "../../domain/packages/package/link-package.ts";
import { empty, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { atPackage } from "../guards/packages.ts";
import { done } from "../handlers.ts";
import { PackagePath } from "./paths.ts";

export const packageLinks = endpoints();

packageLinks.openapi(
  createRoute({
    method: "post",
    path: "/packages/{owner}/{type}/{name}/-/link/{repo_name}",
    operationId: "linkPackage",
    tags: ["package"],
    summary: "Link a package to a repository",
    description: "From then on those see the package who see the repository.",
    middleware: [atPackage("write")] as const,
    request: {
      params: PackagePath.extend({
        repo_name: z
          .string()
          .openapi({ description: "The name of a repository of the same owner" }),
      }),
    },
    responses: { 201: empty("It is linked"), ...refusals(400, 401, 403, 404) },
  }),
  async (c) => {
    const { ctx, pkg } = c.var;
    await linkPackage(ctx, pkg, c.req.valid("param").repo_name);
    return c.body(null, 201);
  },
);

packageLinks.openapi(
  createRoute({
    method: "post",
    path: "/packages/{owner}/{type}/{name}/-/unlink",
    operationId: "unlinkPackage",
    tags: ["package"],
    summary: "Take a package off its repository",
    description: "From then on those see the package who see its owner.",
    middleware: [atPackage("write")] as const,
    request: { params: PackagePath },
    responses: { 204: empty("It is linked to no repository"), ...refusals(400, 401, 403, 404) },
  }),
  (c) => done(c, ({ ctx, pkg }) => unlinkPackage(ctx, pkg)),
);
