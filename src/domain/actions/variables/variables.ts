import { and, asc, count, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isViolation } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { actionVariables, type ActionVariable } from "../../../db/schema/index.ts";
import { differing } from "../../../lib/differing.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import { only } from "../../../lib/only.ts";
import { recordAudit, recordAuditIfChanged } from "../../people/audit/record-audit.ts";
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

/** Lists the variables of a level, by name. */
export async function listVariables(
  { db }: Ctx,
  level: ActionsLevel,
  { size, offset }: Slice,
): Promise<Listed<ActionVariable>> {
  const listed = { level: levelArgument(level) };
  return toListedPage(
    await batch(db, {
      rows: variablesAtLevel(db, { ...listed, size, offset }),
      counted: variableCount(db, listed),
    }),
  );
}

interface AtLevel {
  readonly level: LevelArgument;
}

const variablesAtLevel = prepare((db, p: Params<AtLevel & Slice>) =>
  db
    .select()
    .from(actionVariables)
    .where(isValueAt(actionVariables, p.level))
    .orderBy(asc(actionVariables.name))
    .limit(p.size)
    .offset(p.offset),
);

const variableCount = prepare((db, p: Params<AtLevel>) =>
  db
    .select({ total: count().as("total") })
    .from(actionVariables)
    .where(isValueAt(actionVariables, p.level)),
);

/** @throws Failure `not_found` also for a variable of another level. */
export async function findVariable(
  { db }: Ctx,
  level: ActionsLevel,
  name: string,
): Promise<ActionVariable> {
  const named = { level: levelArgument(level), name: name.toUpperCase() };
  const [variable] = await variableNamed(db, named);
  if (!variable) throw noVariable();
  return variable;
}

const variableNamed = prepare((db, p: Params<AtLevel & { name: string }>) =>
  db
    .select()
    .from(actionVariables)
    .where(and(isAtLevel(actionVariables, p.level), eq(actionVariables.name, p.name))),
);

const noVariable = () => notFound("variable does not exist");

/** What is set of a variable. */
export interface VariableOptions {
  readonly value: string;
  readonly description?: string | undefined;
}

/**
 * Creates a variable.
 *
 * @throws Failure `malformed` for an invalid name; `invalid` for an invalid value, and where the
 *   level has too many; `conflict` if the level has one of this name.
 */
export async function createVariable(
  ctx: Ctx,
  level: ActionsLevel,
  nameAsSent: string,
  { value, description = "" }: VariableOptions,
): Promise<ActionVariable> {
  const name = toValueName(nameAsSent);
  requireValue(value, "value");
  requireDescription(description);
  const { db, now } = ctx;
  const { created } = await batch(db, {
    created: db
      .insert(actionVariables)
      .values({
        ...levelValues(level),
        name,
        value: withinLimits(actionVariables, level, name, value),
        description,
        createdAt: now,
        updatedAt: now,
      })
      .returning(),
    audit: recordAudit(ctx, { kind: "variable.created", ...auditOwner(level), target: name }),
  }).catch(refuseViolation);
  return only(created);
}

/** Changes of a variable: what is not given stays. */
export interface VariableChanges extends Partial<VariableOptions> {
  readonly name?: string | undefined;
}

/**
 * Changes a variable. Unchanged values change nothing.
 *
 * @throws Failure `not_found` also for a variable of another level; otherwise as `createVariable`.
 */
export async function editVariable(
  ctx: Ctx,
  level: ActionsLevel,
  name: string,
  { name: newName, value, description }: VariableChanges,
): Promise<void> {
  const variable = await findVariable(ctx, level, name);
  if (value !== undefined) requireValue(value, "value");
  requireDescription(description);
  const edit = differing(variable, {
    ...(newName !== undefined && { name: toValueName(newName) }),
    ...(value !== undefined && { value }),
    ...(description !== undefined && { description }),
  });
  const changed = Object.keys(edit).toSorted();
  if (changed.length === 0) return;
  const { db, now } = ctx;
  const { edited } = await batch(db, {
    edited: db
      .update(actionVariables)
      .set({
        ...edit,
        ...(edit.value !== undefined && {
          value: withinLimits(actionVariables, level, variable.name, edit.value),
        }),
        updatedAt: now,
      })
      .where(isValueNamed(actionVariables, level, variable.name))
      .returning({ id: actionVariables.id }),
    audit: recordAuditIfChanged(ctx, {
      kind: "variable.edited",
      ...auditOwner(level),
      target: edit.name ?? variable.name,
      details: { changed },
    }),
  }).catch(refuseViolation);
  if (edited.length === 0) throw noVariable();
}

/** @throws Failure `not_found` also for a variable of another level. */
export async function deleteVariable(ctx: Ctx, level: ActionsLevel, name: string): Promise<void> {
  const target = name.toUpperCase();
  const { deleted } = await batch(ctx.db, {
    deleted: ctx.db
      .delete(actionVariables)
      .where(isValueNamed(actionVariables, level, target))
      .returning({ id: actionVariables.id }),
    audit: recordAuditIfChanged(ctx, {
      kind: "variable.deleted",
      ...auditOwner(level),
      target,
    }),
  });
  if (deleted.length === 0) throw noVariable();
}

/** @throws Failure for an error of the database that a limit or a name causes. */
function refuseViolation(error: unknown): never {
  if (isViolation(error, "NOT NULL", "action_variables.value")) throw tooManyValues("variables");
  if (isViolation(error, "UNIQUE", "action_variables")) {
    throw conflict("variable name already exists");
  }
  throw error;
}
