import { eq, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { newRepositoryId } from "../../../db/new-repository-id.ts";
import { type Import, imports } from "../../../db/schema/index.ts";
import { Failure, invalid } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { deleteRepository } from "../../repos/repository/delete-repository.ts";
import { findVisibleRepository } from "../../repos/repository/find-repository.ts";
import {
  type CreationContext,
  insertRepository,
} from "../../repos/repository/insert-repository.ts";
import { repositoryLimit } from "../../repos/repository/repository-limit.ts";

/** Pauses between two looks at an import that the request waits for, in milliseconds. */
const LOOK_MIN_MS = 50;
const LOOK_MAX_MS = 500;

/** The columns of a repository that is imported, without those that every one has. */
type ImportedColumns = Omit<
  Parameters<typeof insertRepository>[2],
  "objectName" | "networkName" | "defaultBranch"
>;

/** The columns of an import, without those that every new one has. */
type NewImportColumns = Pick<
  Import,
  "service" | "address" | "username" | "sealedPassword" | "options" | "notes"
>;

/** Statements, built from the SQL of the repository's id. */
type ToStatements = (repoId: SQL<number>) => BatchItem<"sqlite">[];

/**
 * Creates a repository with its import, and waits a while for the import to end. A repository whose
 * import fails within that time is removed again.
 *
 * @param toMore Further statements of the batch.
 * @throws Failure `conflict` for a name that exists; `invalid` for the maximum number of
 * repositories, and with the reason of an import that failed.
 */
export async function beginImport(
  ctx: Ctx,
  creation: CreationContext,
  columns: ImportedColumns,
  row: NewImportColumns,
  toMore: ToStatements = () => [],
): Promise<RepositoryContext> {
  const repo = await insertImported(ctx, creation, columns, row, toMore);
  const importId = await findImportId(ctx, repo.row.id);
  await ctx.remoteJobs.send([{ kind: "import", importId }]);
  return waitForEnd(ctx, repo, importId);
}

/** Writes the repository and its import in one batch. */
async function insertImported(
  ctx: Ctx,
  creation: CreationContext,
  columns: ImportedColumns,
  row: NewImportColumns,
  toMore: ToStatements,
): Promise<RepositoryContext> {
  const { db, now, config } = ctx;
  const { owner, creator } = creation;
  const objectName = crypto.randomUUID();
  try {
    return await insertRepository(
      ctx,
      creation,
      { ...columns, objectName, networkName: objectName, defaultBranch: config.defaultBranch },
      {
        toMore: (repo) => {
          const repoId = newRepositoryId(repo);
          const insert = insertSelect(
            db,
            imports,
            {
              ...row,
              repoId,
              doerId: creator.id,
              dueAt: now,
              rootUrl: config.publicUrl === "" ? ctx.publicUrl : "",
              createdAt: now,
            },
            sql``,
          );
          return [insert, ...toMore(repoId)];
        },
      },
    );
  } catch (error) {
    if (error instanceof Failure && error.kind === "forbidden") {
      const limit = repositoryLimit(ctx, owner);
      throw invalid(`You have already reached your limit of ${limit} repositories.`);
    }
    throw error;
  }
}

async function findImportId({ db }: Ctx, repoId: number): Promise<number> {
  const [row] = await db.select({ id: imports.id }).from(imports).where(eq(imports.repoId, repoId));
  if (!row) throw new Error("a repository without its import");
  return row.id;
}

/** Waits for the import to end, at most for the configured time. */
async function waitForEnd(
  ctx: Ctx,
  repo: RepositoryContext,
  importId: number,
): Promise<RepositoryContext> {
  const endsAt = Date.now() + ctx.config.migrationWaitMs;
  let pauseMs = LOOK_MIN_MS;
  let row: Pick<Import, "state" | "lastError"> | undefined = { state: "running", lastError: "" };
  while (row?.state === "running" && Date.now() < endsAt) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMs * 2, LOOK_MAX_MS);
    [row] = await ctx.db
      .select({ state: imports.state, lastError: imports.lastError })
      .from(imports)
      .where(eq(imports.id, importId));
  }
  if (row?.state === "failed") {
    await deleteRepository(ctx, repo);
    throw invalid(row.lastError);
  }
  // It may be renamed, or deleted, by an administrator meanwhile.
  return (await findVisibleRepository(ctx, repo.owner.name, repo.row.name)) ?? repo;
}
