import { eq, sql } from "drizzle-orm";

import { ANONYMOUS } from "../../../auth/actor.ts";
import type { BaseCtx, Ctx } from "../../../context.ts";
import { allOf } from "../../../db/db.ts";
import { auditEvents, type User } from "../../../db/schema/index.ts";
import { recordAudit, recordAuditWhere, type AuditEntry } from "./record-audit.ts";

/** For how long a sign-in with each request is one sign-in, in milliseconds. */
const SAME_SIGN_IN_MS = 60 * 60 * 1000;

/**
 * Records that a request signed in by its account's password, once an hour for each address:
 * clients send the password with every request.
 */
export const recordPasswordUse = (ctx: Ctx, user: User) =>
  recordOnceAnHour(ctx, {
    kind: "sign_in.succeeded",
    ownerId: user.id,
    details: { by: "password" },
  });

/**
 * Records that an account that may not sign in was tried with its right password, once an hour for
 * each address.
 */
export const recordRefusedSignIn = (ctx: Ctx, user: User) =>
  recordOnceAnHour(ctx, {
    kind: "sign_in.refused",
    ownerId: user.id,
    details: { because: user.isLoginProhibited ? "prohibited" : "inactive" },
  });

/**
 * Records a wrong password.
 *
 * SECURITY: only for attempts that the brakes in `sign-in-failures.ts` let pass, so that a flood of
 * wrong passwords does not become one of writes. The name as sent is not recorded: people type
 * passwords where a name belongs.
 *
 * @param user The account that was tried, if there is one.
 */
export const recordFailedSignIn = (base: BaseCtx, user: User | undefined) =>
  recordAudit(
    { ...base, actor: ANONYMOUS },
    { kind: "sign_in.failed", ownerId: user?.id ?? 0, details: { by: "password" } },
  );

function recordOnceAnHour(ctx: Ctx, entry: AuditEntry) {
  const isSame = allOf(
    eq(auditEvents.kind, entry.kind),
    sql`${auditEvents.kind} in ('sign_in.succeeded', 'sign_in.refused')`,
    eq(auditEvents.actorId, ctx.actor.user?.id ?? 0),
    sql`${auditEvents.address} is ${ctx.client.address ?? null}`,
    sql`${auditEvents.createdAt} > ${ctx.now - SAME_SIGN_IN_MS}`,
  );
  return recordAuditWhere(
    ctx,
    entry,
    sql`not exists (select 1 from ${auditEvents} where ${isSame})`,
  );
}
