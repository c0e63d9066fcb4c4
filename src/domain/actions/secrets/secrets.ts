import { and, asc, count, eq, sql } from "drizzle-orm";

import { seal } from "../../../auth/seal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Database, isViolation } from "../../../db/db.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { actionSecrets, type ActionSecret } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import {
  isValueAt,
  isValueNamed,
  requireDescription,
  requireValue,
  tooManyValues,
  toValueName,
  withinLimits,
} from "../action-values.ts";
import {
  type ActionsLevel,
  type LevelArgument,
  levelArgument,
  auditOwner,
  isAtLevel,
  levelValues,
} from "../level.ts";

/** The purpose that values are sealed for. */
export const SECRET_PURPOSE = "action_secret.value";

/** A secret as administrators of its level see it: nobody reads the value again. */
export type SecretEntry = Pick<ActionSecret, "name" | "description" | "createdAt" | "updatedAt">;

/** Lists the secrets of a level, by name. Jobs get none of the service's: no door sets them. */
export async function listSecrets(
  { db }: Ctx,
  level: ActionsLevel,
  { size, offset }: Slice,
): Promise<Listed<SecretEntry>> {
  const listed = { level: levelArgument(level) };
  return toListedPage(
    await batch(db, {
      rows: secretsAtLevel(db, { ...listed, size, offset }),
      counted: secretCount(db, listed),
    }),
  );
}

interface AtLevel {
  readonly level: LevelArgument;
}

const selectSecrets = (db: Database) =>
  db
    .select({
      name: actionSecrets.name,
      description: actionSecrets.description,
      createdAt: actionSecrets.createdAt,
      updatedAt: actionSecrets.updatedAt,
    })
    .from(actionSecrets);

const secretsAtLevel = prepare((db, p: Params<AtLevel & Slice>) =>
  selectSecrets(db)
    .where(isValueAt(actionSecrets, p.level))
    .orderBy(asc(actionSecrets.name))
    .limit(p.size)
    .offset(p.offset),
);

const secretCount = prepare((db, p: Params<AtLevel>) =>
  db
    .select({ total: count().as("total") })
    .from(actionSecrets)
    .where(isValueAt(actionSecrets, p.level)),
);

/** @throws Failure `not_found` also for a secret of another level. */
export async function findSecret(
  { db }: Ctx,
  level: ActionsLevel,
  name: string,
): Promise<SecretEntry> {
  const named = { level: levelArgument(level), name: name.toUpperCase() };
  const [secret] = await secretNamed(db, named);
  if (!secret) throw noSecret();
  return secret;
}

const secretNamed = prepare((db, p: Params<AtLevel & { name: string }>) =>
  selectSecrets(db).where(and(isAtLevel(actionSecrets, p.level), eq(actionSecrets.name, p.name))),
);

const noSecret = () => notFound("secret does not exist");

/** What is set of a secret. */
export interface SecretOptions {
  readonly value: string;
  /** A description that is not given stays. */
  readonly description?: string | undefined;
}

/**
 * Creates a secret, or replaces the value of the one that has the name.
 *
 * @returns Which of both.
 * @throws Failure `malformed` for an invalid name; `invalid` for an invalid value, and where the
 *   level has too many; `forbidden` if the service has no sealing key.
 */
export async function setSecret(
  ctx: Ctx,
  level: ActionsLevel,
  nameAsSent: string,
  { value, description }: SecretOptions,
): Promise<"created" | "edited"> {
  const name = toValueName(nameAsSent);
  requireValue(value, "data");
  requireDescription(description);
  const sealed = await seal(ctx.config.sealingKeys, value, SECRET_PURPOSE);
  const kept = withinLimits(actionSecrets, level, name, sealed);
  const isIt = isValueNamed(actionSecrets, level, name);
  const audited = { ...auditOwner(level), target: name };
  const { db, now } = ctx;
  const { edited } = await batch(db, {
    edited: db
      .update(actionSecrets)
      .set({ value: kept, description, updatedAt: now })
      .where(isIt)
      .returning({ id: actionSecrets.id }),
    editAudit: recordAuditIfChanged(ctx, { kind: "secret.edited", ...audited }),
    created: insertSelect(
      db,
      actionSecrets,
      {
        ...levelValues(level),
        name,
        value: kept,
        description: description ?? "",
        createdAt: now,
        updatedAt: now,
      },
      sql`where not exists (select 1 from ${actionSecrets} where ${isIt})`,
    ),
    audit: recordAuditIfChanged(ctx, { kind: "secret.created", ...audited }),
  }).catch((error: unknown) => {
    const isOver = isViolation(error, "NOT NULL", "action_secrets.value");
    throw isOver ? tooManyValues("secrets") : error;
  });
  return edited.length > 0 ? "edited" : "created";
}

/** @throws Failure `not_found` also for a name that no secret can have. */
export async function deleteSecret(ctx: Ctx, level: ActionsLevel, name: string): Promise<void> {
  const target = name.toUpperCase();
  const { deleted } = await batch(ctx.db, {
    deleted: ctx.db
      .delete(actionSecrets)
      .where(isValueNamed(actionSecrets, level, target))
      .returning({ id: actionSecrets.id }),
    audit: recordAuditIfChanged(ctx, {
      kind: "secret.deleted",
      ...auditOwner(level),
      target,
    }),
  });
  if (deleted.length === 0) throw noSecret();
}
