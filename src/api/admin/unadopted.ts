import { createRoute, z } from "@hono/zod-openapi";

import { notFound } from "../../lib/failure.ts";
import { empty, page, refusals } from "../answers.ts";
import { endpoints } from "../endpoints.ts";
import { siteAdmin } from "../guards/people.ts";
import { Paging, pageOf } from "../paging.ts";
import { RepoPath } from "../repos/paths.ts";

/**
 * Repositories whose files lie in the storage without a record of them. Gitea finds them as
 * directories that somebody put beside its own; here the service alone writes to its storage, and a
 * repository's record is written with its object. So there are none, whatever the name.
 */
export const unadopted = endpoints();

unadopted.openapi(
  createRoute({
    method: "get",
    path: "/admin/unadopted",
    operationId: "adminUnadoptedList",
    tags: ["admin"],
    summary: "List unadopted repositories",
    description: "Always empty: the storage contains only repositories that the service created.",
    middleware: [siteAdmin("read:admin")] as const,
    request: { query: Paging },
    responses: {
      200: page(z.array(z.string()), "Their names as owner/name"),
      ...refusals(401, 403),
    },
  }),
  async (c) => {
    const none = { items: [] as string[], total: 0 };
    return c.json(await pageOf(c, c.req.valid("query"), () => Promise.resolve(none)), 200);
  },
);

unadopted.openapi(
  createRoute({
    method: "post",
    path: "/admin/unadopted/{owner}/{repo}",
    operationId: "adminAdoptRepository",
    tags: ["admin"],
    summary: "Adopt an unadopted repository",
    description: "Always 404: there are no unadopted repositories.",
    middleware: [siteAdmin("write:admin")] as const,
    request: { params: RepoPath },
    responses: { 204: empty("The repository was adopted"), ...refusals(401, 403, 404) },
  }),
  () => {
    throw notFound();
  },
);

unadopted.openapi(
  createRoute({
    method: "delete",
    path: "/admin/unadopted/{owner}/{repo}",
    operationId: "adminDeleteUnadoptedRepository",
    tags: ["admin"],
    summary: "Delete an unadopted repository",
    description: "Always 404: there are no unadopted repositories.",
    middleware: [siteAdmin("write:admin")] as const,
    request: { params: RepoPath },
    responses: { 204: empty("The repository was deleted"), ...refusals(401, 403, 404) },
  }),
  () => {
    throw notFound();
  },
);
