import { asc, sql } from "drizzle-orm";

import { seal, unseal } from "../../../auth/seal.ts";
import { hashSecret, makeSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { runnerRegistrationTokens } from "../../../db/schema/index.ts";
import { only } from "../../../lib/only.ts";
import { recordAudit } from "../../people/audit/record-audit.ts";
import {
  type ActionsLevel,
  auditOwner,
  isAtLevel,
  type LevelArgument,
  levelArgument,
  levelValues,
} from "../level.ts";

/** What the column is sealed for. */
export const SEALED_FOR_REGISTRATION = "runner registration";

/**
 * The token with which runners register at a level: always the same one, until it is reset. The
 * first call makes it.
 *
 * @throws Failure `forbidden` where the service has no key to seal it with.
 */
export async function readRegistrationToken(ctx: Ctx, level: ActionsLevel): Promise<string> {
  const argument = { level: levelArgument(level) };
  const [found] = await tokenOfLevel(ctx.db, argument);
  const token = found && (await open(ctx, found.token));
  if (token !== undefined) return token;
  // A token that no key opens any more is of no use to anybody who would read it.
  if (found) return resetRegistrationToken(ctx, level);
  const { row } = await makeToken(ctx, level);
  const { stored } = await batch(ctx.db, {
    inserted: insertSelect(
      ctx.db,
      runnerRegistrationTokens,
      row,
      sql`where not exists (
        select 1 from ${runnerRegistrationTokens} where ${isAtLevel(
          runnerRegistrationTokens,
          argument.level,
        )}
      )`,
    ),
    stored: tokenOfLevel(ctx.db, argument),
  });
  const mine = await open(ctx, only(stored).token);
  return mine ?? resetRegistrationToken(ctx, level);
}

/**
 * Replaces the token of a level. Runners that are registered stay.
 *
 * @throws Failure `forbidden` where the service has no key to seal it with.
 */
export async function resetRegistrationToken(ctx: Ctx, level: ActionsLevel): Promise<string> {
  const { token, row } = await makeToken(ctx, level);
  await batch(ctx.db, {
    deleted: ctx.db
      .delete(runnerRegistrationTokens)
      .where(isAtLevel(runnerRegistrationTokens, levelArgument(level))),
    inserted: ctx.db.insert(runnerRegistrationTokens).values(row),
    audit: recordAudit(ctx, { kind: "runner_token.reset", ...auditOwner(level) }),
  });
  return token;
}

const tokenOfLevel = prepare((db, p: Params<{ level: LevelArgument }>) =>
  db
    .select()
    .from(runnerRegistrationTokens)
    .where(isAtLevel(runnerRegistrationTokens, p.level))
    .orderBy(asc(runnerRegistrationTokens.id))
    .limit(1),
);

async function makeToken({ config, now }: Ctx, level: ActionsLevel) {
  const token = makeSecret();
  const [tokenHash, sealed] = await Promise.all([
    hashSecret(token),
    seal(config.sealingKeys, token, SEALED_FOR_REGISTRATION),
  ]);
  return { token, row: { ...levelValues(level), tokenHash, token: sealed, createdAt: now } };
}

async function open({ config }: Ctx, sealed: string): Promise<string | undefined> {
  const opened = await unseal(config.sealingKeys, sealed, SEALED_FOR_REGISTRATION);
  return opened.kind === "open" ? opened.text : undefined;
}
