import { asc, eq, or } from "drizzle-orm";

import { unseal } from "../../../auth/seal.ts";
import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { actionSecrets } from "../../../db/schema/index.ts";
import { log } from "../../../lib/log.ts";
import { toJobValues } from "../action-values.ts";
import { SECRET_PURPOSE } from "./secrets.ts";

/** The repository of a job and its owner. */
export interface JobPlace {
  readonly repoId: number;
  readonly ownerId: number;
}

/**
 * Reads the secrets of a job by name: those of its repository, which win, and of the repository's
 * owner. A secret that no key of the service unseals is left out, and logged.
 *
 * SECURITY: not for the run of a fork.
 */
export async function readJobSecrets(
  { db, config }: Ctx,
  { repoId, ownerId }: JobPlace,
): Promise<Record<string, string>> {
  const sealed = await secretsOfJob(db, { repoId, ownerId });
  const opened = await Promise.all(
    sealed.map(async ({ id, name, value }) => {
      const unsealed = await unseal(config.sealingKeys, value, SECRET_PURPOSE);
      if (unsealed.kind === "open") return [{ name, value: unsealed.text }];
      log("actions:secret-unsealable", { secretId: id, reason: unsealed.kind });
      return [];
    }),
  );
  return toJobValues(opened.flat());
}

const secretsOfJob = prepare((db, p: Params<JobPlace>) =>
  db
    .select({ id: actionSecrets.id, name: actionSecrets.name, value: actionSecrets.value })
    .from(actionSecrets)
    .where(or(eq(actionSecrets.repoId, p.repoId), eq(actionSecrets.ownerId, p.ownerId)))
    // Null, as of the owner's, comes first.
    .orderBy(asc(actionSecrets.repoId)),
);
