import { createRoute } from "@hono/zod-openapi";

import { listOwnAudit } from "../../domain/people/audit/list-audit.ts";
import { refusals } from "../answers.ts";
import { AuditQuery, auditPage, auditPageOf } from "../audit-page.ts";
import { endpoints } from "../endpoints.ts";
import { signedIn } from "../guards/people.ts";

export const ownAudit = endpoints();

ownAudit.openapi(
  createRoute({
    method: "get",
    path: "/user/audit",
    operationId: "userCurrentListAudit",
    tags: ["user"],
    summary: "List your audit log",
    description:
      "Returns what happened to your account, what you did, and what concerned you in organizations, after the cursor of an earlier response.",
    middleware: [signedIn("read:user")] as const,
    request: { query: AuditQuery },
    responses: { 200: auditPage, ...refusals(401, 403, 422) },
  }),
  async (c) => {
    const { ctx, user } = c.var;
    const page = await auditPageOf(c, c.req.valid("query"), (filter, cursor) =>
      listOwnAudit(ctx, user, filter, cursor),
    );
    return c.json(page, 200);
  },
);
