import { asc, eq, or } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { actionVariables } from "../../../db/schema/index.ts";
import { isValueAt, toJobValues } from "../action-values.ts";
import type { JobPlace } from "../secrets/read-job-secrets.ts";

/**
 * Reads the variables of a job by name: those of its repository win over those of the repository's
 * owner, and those over the service's.
 */
export const readJobVariables = async (
  { db }: Ctx,
  { repoId, ownerId }: JobPlace,
): Promise<Record<string, string>> => toJobValues(await variablesOfJob(db, { repoId, ownerId }));

const variablesOfJob = prepare((db, p: Params<JobPlace>) =>
  db
    .select({ name: actionVariables.name, value: actionVariables.value })
    .from(actionVariables)
    .where(
      or(
        eq(actionVariables.repoId, p.repoId),
        eq(actionVariables.ownerId, p.ownerId),
        isValueAt(actionVariables, { isService: true }),
      ),
    )
    // Nulls come first: of the service both, of the owner that of the repository.
    .orderBy(asc(actionVariables.repoId), asc(actionVariables.ownerId)),
);
