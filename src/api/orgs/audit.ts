import { createRoute } from "@hono/zod-openapi";

import { listOrganizationAudit } from "../../domain/people/audit/list-audit.ts";
import { refusals } from "../answers.ts";
import { AuditQuery, auditPage, auditPageOf } from "../audit-page.ts";
import { endpoints } from "../endpoints.ts";
import { inOrg } from "../guards/account.ts";
import { OrgPath } from "./paths.ts";

export const organizationAudit = endpoints();

organizationAudit.openapi(
  createRoute({
    method: "get",
    path: "/orgs/{org}/audit",
    operationId: "orgListAudit",
    tags: ["organization"],
    summary: "List an organization's audit log",
    description: "For its owners. Returns entries after the cursor of an earlier response.",
    middleware: [
      inOrg("read:organization", { allowsAnonymous: false, needs: "ownership" }),
    ] as const,
    request: { params: OrgPath, query: AuditQuery },
    responses: { 200: auditPage, ...refusals(401, 403, 404, 422) },
  }),
  async (c) => {
    const { ctx, org } = c.var;
    const page = await auditPageOf(c, c.req.valid("query"), (filter, cursor) =>
      listOrganizationAudit(ctx, org, filter, cursor),
    );
    return c.json(page, 200);
  },
);
