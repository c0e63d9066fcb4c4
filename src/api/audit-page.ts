import { z } from "@hono/zod-openapi";
import type { Context } from "hono";

import { boundTokenId } from "../auth/actor.ts";
import type { AuditCursor, AuditFilter, listAudit } from "../domain/people/audit/list-audit.ts";
import { forbidden } from "../lib/failure.ts";
import {
  AUDIT_DETAILS,
  AuditPage,
  toAuditEvent,
  type AuditKind,
} from "../shapes/audit/audit-event.ts";
import { json } from "./answers.ts";
import type { GuardVariables } from "./guards/guard.ts";
import { queryInteger, readPage } from "./paging.ts";

const timeQuery = (description: string) =>
  z.iso
    .datetime({ offset: true })
    .transform((time) => Date.parse(time))
    .optional()
    .openapi({ type: "string", format: "date-time", description });

/**
 * The query of an audit log. An invalid cursor is refused: reading it as 0 would restart the list.
 */
export const AuditQuery = z.object({
  after: z
    .string()
    .regex(/^\d{1,15}$/, "must be the `next` of an earlier answer")
    .transform(Number)
    .optional()
    .openapi({
      type: "integer",
      format: "int64",
      description: "Only entries beyond this cursor, the `next` of an earlier response",
    }),
  order: z
    .enum(["asc", "desc"])
    .default("asc")
    .openapi({ description: "Whether the oldest or the newest entries come first" }),
  limit: queryInteger("Maximum number of entries"),
  kind: z
    .enum(Object.keys(AUDIT_DETAILS) as AuditKind[])
    .optional()
    .openapi({ description: "Only entries of this kind" }),
  actor: z
    .string()
    .min(1)
    .max(40)
    .optional()
    .openapi({ description: "Only what the user of this name did" }),
  since: timeQuery("Only entries at or after this time"),
  before: timeQuery("Only entries before this time"),
});

/** A slice of an audit log. */
export const auditPage = {
  ...json(AuditPage, "The entries; empty at the end of the log"),
  headers: {
    Link: { description: "The URL of the next entries", schema: { type: "string" as const } },
  },
};

/** The part of a request's context that `auditPageOf` needs. */
interface PageContext {
  req: Pick<Context["req"], "url">;
  var: Pick<GuardVariables, "ctx">;
  header(name: string, value: string): void;
}

/**
 * The slice of an audit log that a query selects; sets a `Link` header to the next slice.
 *
 * @throws Failure `forbidden` for a token that reaches less than its user's account.
 */
export async function auditPageOf(
  c: PageContext,
  query: z.infer<typeof AuditQuery> & Pick<AuditFilter, "owner">,
  list: (filter: AuditFilter, cursor: AuditCursor) => ReturnType<typeof listAudit>,
): Promise<z.infer<typeof AuditPage>> {
  const { ctx } = c.var;
  // SECURITY: the log names private repositories, and what other tokens of the account did.
  if (ctx.actor.scopes.isPublicOnly || boundTokenId(ctx.actor) !== undefined) {
    throw forbidden("the token is limited to some repositories");
  }
  const { after, order, limit, ...filter } = query;
  const { size } = readPage(ctx.config, { page: 1, limit });
  const { items, next } = await list(filter, { after, order, size });
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.set("after", String(next));
  searchParams.sort();
  c.header("Link", `<${ctx.rootUrl}${pathname}?${searchParams}>; rel="next"`);
  c.header("Access-Control-Expose-Headers", "Link");
  return { events: items.map(toAuditEvent), next };
}
