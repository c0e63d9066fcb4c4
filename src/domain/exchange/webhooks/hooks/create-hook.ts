import { sql } from "drizzle-orm";

import type { Ctx } from "../../../../context.ts";
import { batch } from "../../../../db/batch.ts";
import { boundRow, type BoundRow } from "../../../../db/bound-row.ts";
import { isViolation, onlyWhile } from "../../../../db/db.ts";
import { COMPUTED, LAST_INSERT_ID } from "../../../../db/json-of.ts";
import { type Params, prepareAll } from "../../../../db/prepared.ts";
import { hooks, type Hook } from "../../../../db/schema/index.ts";
import { record } from "../../../../events/record.ts";
import { invalid } from "../../../../lib/failure.ts";
import { only } from "../../../../lib/only.ts";
import {
  auditArgument,
  type AuditArgument,
  recordAuditBy,
} from "../../../people/audit/record-audit.ts";
import {
  eventOwner,
  type HookOwner,
  hookOwnerArgument,
  type HookOwnerArgument,
  isHookOf,
  type SITE_LEVELS,
} from "./hook-owner.ts";
import { toColumns, toHookType, type HookOptions } from "./hook-options.ts";
import { requireApprover } from "./require-approver.ts";

/** The options of a new hook, and those that cannot be changed later. */
interface NewHook extends HookOptions {
  type: string;
  /** The level of a hook that belongs to the service. */
  siteLevel?: (typeof SITE_LEVELS)[number];
}

const TOO_MANY = (limit: number): string => `no more than ${limit} webhooks may be here`;

/**
 * Creates a hook. By default it receives pushes, and it is inactive until it is activated.
 *
 * @throws Failure `invalid` or `malformed` for invalid options, `invalid` when the owner already
 * has as many hooks as the configuration allows, `forbidden` if the caller's credential cannot read
 * everything that the hook would deliver.
 */
export async function createHook(ctx: Ctx, hookOwner: HookOwner, input: NewHook): Promise<Hook> {
  const approver = requireApprover(ctx.actor, hookOwner);
  const type = toHookType(input.type);
  const { url, contentType, ...columns } = await toColumns(ctx, type, input);
  if (url === undefined) throw invalid("Missing config option: url");
  if (contentType === undefined) throw invalid("Missing config option: content_type");
  if (type === "slack" && columns.chat?.channel === undefined) {
    throw invalid("Missing config option: channel");
  }
  const limit = ctx.config.hookCountMax;
  const { now } = ctx;
  const row = {
    chat: {},
    events: ["push"],
    isActive: false,
    ...columns,
    type,
    url,
    contentType,
    level: hookOwner.level === "site" ? (input.siteLevel ?? "default") : hookOwner.level,
    repoId: hookOwner.level === "repository" ? hookOwner.repo.id : null,
    ownerId: "owner" in hookOwner ? hookOwner.owner.id : null,
    approverId: approver.id,
    createdAt: now,
    updatedAt: now,
  };
  const insertion = insertHook(ctx.db, {
    row: boundRow(hooks, row),
    hookOwner: hookOwnerArgument(hookOwner),
    limit,
    audit: auditArgument(ctx, {
      kind: "hook.created",
      ...eventOwner(hookOwner),
      target: COMPUTED,
      details: { host: new URL(url).host },
    }),
  });
  const { created } = await batch(ctx.db, {
    created: insertion.created,
    event: record(ctx, { type: "hook.created", ...eventOwner(hookOwner), hookId: LAST_INSERT_ID }),
    audit: insertion.audit,
  }).catch((error: unknown) => {
    throw isViolation(error, "NOT NULL", "hooks.url") ? invalid(TOO_MANY(limit)) : error;
  });
  return only(created);
}

interface InsertedHook {
  readonly row: BoundRow<typeof hooks.$inferInsert>;
  readonly hookOwner: HookOwnerArgument;
  readonly limit: number;
  readonly audit: AuditArgument;
}

const insertHook = prepareAll((db, { row, hookOwner, limit, audit }: Params<InsertedHook>) => {
  const isOfOwner = isHookOf(hookOwner);
  const isWithinLimit = sql`(
    select count(*) from ${hooks} where ${isOfOwner}
  ) < ${limit}`;
  const lastId = sql`(select max(${hooks.id}) from ${hooks} where ${isOfOwner})`;
  return {
    created: db
      .insert(hooks)
      // Above the limit the URL is null, which the column refuses, so the batch fails.
      .values({ ...row, url: onlyWhile<string>(isWithinLimit, sql`${row.url}`) })
      .returning(),
    audit: recordAuditBy(db, audit, { target: lastId }),
  };
});
