import { and, eq, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { type Import, imports, type User } from "../../../db/schema/index.ts";
import { conflict, forbidden } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { setOrigin } from "./end-import.ts";
import { keepExportFile } from "./export-file.ts";
import { findImport } from "./find-import.ts";
import { forgetAnswers } from "./stored-answers.ts";
import { sealImportPassword, TOKEN_USER } from "./open-import.ts";

/** Credentials that replace those of the import; all "" keep them. */
export interface NewCredentials {
  readonly username: string;
  readonly password: string;
  readonly token: string;
}

/**
 * Goes on with an import that failed or was cancelled, where it ended. One that is done is
 * repeated: only what is new there is taken. One that waits goes on at once.
 *
 * @throws Failure `not_found` for a repository that was made here, `conflict` while it runs, and
 * for an export that is no longer here, as none is when its import is done; `forbidden` where
 * migrations are switched off.
 */
export async function continueImport(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  given: NewCredentials,
): Promise<Import> {
  if (ctx.config.areMigrationsDisabled) {
    throw forbidden("the site administrator has disabled migrations");
  }
  const before = await findImport(ctx, repo);
  if (before.state === "running") throw conflict("the migration is running");
  const isAnew = before.state === "done";
  const { file } = before.options;
  if (file && (isAnew || !(await keepExportFile(ctx, file.uuid)))) {
    throw conflict("the export is no longer here: import it anew");
  }
  const credentials = await toColumns(ctx, given);
  const { since: _, ...options } = before.options;
  const [[row]] = await ctx.db.batch([
    ctx.db
      .update(imports)
      .set({
        ...credentials,
        // SECURITY: it goes on by the right of who continues it.
        doerId: user.id,
        state: "running",
        dueAt: ctx.now,
        leasedUntil: 0,
        finishedAt: null,
        failureCount: 0,
        lastError: "",
        options: {
          ...options,
          ...(before.state !== "waiting" && { isRepeat: true }),
          ...(isAnew && { readAt: ctx.now }),
        },
        ...(isAnew && { stage: "git" as const, cursor: null, progress: {}, notes: [] }),
        rootUrl: ctx.config.publicUrl === "" ? ctx.publicUrl : "",
      })
      .where(and(eq(imports.id, before.id), eq(imports.state, before.state)))
      .returning(),
    setOrigin(ctx, repo.row.id, "running", sql`changes() > 0`),
    // SECURITY: what other credentials were answered is not for these.
    ...(Object.keys(credentials).length > 0 ? [forgetAnswers(ctx.db, before.id)] : []),
  ]);
  if (!row) throw conflict("the migration is running");
  await ctx.remoteJobs.send([{ kind: "import", importId: row.id }]);
  return row;
}

async function toColumns(
  ctx: Ctx,
  { username, password, token }: NewCredentials,
): Promise<Partial<Pick<Import, "username" | "sealedPassword">>> {
  if (token !== "") {
    return { username: TOKEN_USER, sealedPassword: await sealImportPassword(ctx, token) };
  }
  if (username === "" && password === "") return {};
  return { username, sealedPassword: await sealImportPassword(ctx, password) };
}
