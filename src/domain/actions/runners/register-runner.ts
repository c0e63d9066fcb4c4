import { eq, sql } from "drizzle-orm";

import { hashSecret, makeSecret } from "../../../auth/secret.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { LAST_INSERT_ID } from "../../../db/json-of.ts";
import {
  repositories,
  type Runner,
  runnerRegistrationTokens,
  runners,
} from "../../../db/schema/index.ts";
import { unauthenticated } from "../../../lib/failure.ts";
import { recordAuditIfChanged } from "../../people/audit/record-audit.ts";
import { readDescription, type RunnerDescription } from "./runner-description.ts";

/** A program that wants to become a runner. */
interface Registration extends RunnerDescription {
  /** A registration token. */
  readonly token: string;
  readonly name: string;
  readonly isEphemeral: boolean;
}

/**
 * Makes a runner at the level of a registration token.
 *
 * @returns The runner with its token, which is not stored and is never shown again.
 * @throws Failure `unauthenticated` for an unknown token, `invalid` for labels or a name that are
 *   too long or too many.
 */
export async function registerRunner(
  ctx: Ctx,
  { token: registrationToken, name, isEphemeral, ...description }: Registration,
): Promise<{ runner: Runner; token: string }> {
  const { db, now } = ctx;
  const described = readDescription({ name, ...description });
  const token = makeSecret();
  const ofToken = sql`from ${runnerRegistrationTokens}
    where ${eq(runnerRegistrationTokens.tokenHash, await hashSecret(registrationToken))}`;
  const row = {
    ...described,
    uuid: crypto.randomUUID(),
    repoId: runnerRegistrationTokens.repoId,
    ownerId: runnerRegistrationTokens.ownerId,
    tokenHash: await hashSecret(token),
    isEphemeral,
    lastOnlineAt: now,
    createdAt: now,
  };
  const ownerOfRepository = sql`(
    select ${repositories.ownerId} from ${repositories}
    where ${repositories.id} = ${runnerRegistrationTokens.repoId}
  )`;
  const { registered } = await batch(db, {
    registered: insertSelect(db, runners, row, ofToken).returning(),
    audit: recordAuditIfChanged(ctx, {
      kind: "runner.registered",
      ownerId: sql<number>`(
        select coalesce(${ownerOfRepository}, ${runnerRegistrationTokens.ownerId}, 0) ${ofToken}
      )`,
      repoId: sql<number>`(select ${runnerRegistrationTokens.repoId} ${ofToken})`,
      target: described.name,
      details: { runnerId: LAST_INSERT_ID, isEphemeral },
    }),
  });
  const [runner] = registered;
  if (!runner) throw unauthenticated("runner registration token not found");
  return { runner, token };
}
