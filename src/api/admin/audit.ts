import { createRoute, z } from "@hono/zod-openapi";

import { listAudit } from "../../domain/people/audit/list-audit.ts";
import { refusals } from "../answers.ts";
import { AuditQuery, auditPage, auditPageOf } from "../audit-page.ts";
import { endpoints } from "../endpoints.ts";
import { siteAdmin } from "../guards/people.ts";

export const adminAudit = endpoints();

adminAudit.openapi(
  createRoute({
    method: "get",
    path: "/admin/audit",
    operationId: "adminListAudit",
    tags: ["admin"],
    summary: "List the audit log of the service",
    description: "Returns entries after the cursor of an earlier response.",
    middleware: [siteAdmin("read:admin")] as const,
    request: {
      query: AuditQuery.extend({
        owner: z
          .string()
          .min(1)
          .max(40)
          .optional()
          .openapi({ description: "Only changes of the user or organization of this name" }),
      }),
    },
    responses: { 200: auditPage, ...refusals(401, 403, 422) },
  }),
  async (c) => {
    const { ctx } = c.var;
    const page = await auditPageOf(c, c.req.valid("query"), (filter, cursor) =>
      listAudit(ctx, filter, cursor),
    );
    return c.json(page, 200);
  },
);
