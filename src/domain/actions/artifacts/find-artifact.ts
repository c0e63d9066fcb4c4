import { and, asc, count, desc, eq, inArray, isNotNull, ne, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { columnsOf } from "../../../db/db.ts";
import { type Params, prepare, prepareAll } from "../../../db/prepared.ts";
import {
  repositories,
  users,
  type WorkflowArtifact,
  type WorkflowArtifactFile,
  workflowArtifactFiles,
  type WorkflowArtifactPart,
  workflowArtifactParts,
  workflowArtifacts,
  type WorkflowRun,
  workflowRuns,
} from "../../../db/schema/index.ts";
import { forbidden, notFound } from "../../../lib/failure.ts";
import { type Listed, type Slice, toListedPage } from "../../slice.ts";
import type { AddressedArtifact } from "./artifact-address.ts";
import { isTaskRunning } from "./is-task-running.ts";

/** An artifact that is finished, with what is told of its run. */
export interface ListedArtifact {
  readonly artifact: WorkflowArtifact;
  readonly run: Pick<WorkflowRun, "number" | "headOid">;
}

/** Which artifacts are meant. Those that are being uploaded are never among them. */
export interface ArtifactFilter {
  readonly repoId: number;
  readonly runId?: number | undefined;
  /** Of the run, in the repository. */
  readonly runNumber?: number | undefined;
  readonly id?: number | undefined;
  readonly name?: string | undefined;
}

const columns = {
  artifact: columnsOf(workflowArtifacts, "a"),
  run: {
    number: sql<number>`${workflowRuns.number}`.as("run_number"),
    headOid: sql<string>`${workflowRuns.headOid}`.as("head_oid"),
  },
};

function isListed({ repoId, runId, runNumber, id, name }: Params<ArtifactFilter>): SQL | undefined {
  return and(
    eq(workflowArtifacts.repoId, repoId),
    ne(workflowArtifacts.state, "pending"),
    runId === undefined ? undefined : eq(workflowArtifacts.runId, runId),
    runNumber === undefined ? undefined : eq(workflowRuns.number, runNumber),
    id === undefined ? undefined : eq(workflowArtifacts.id, id),
    name === undefined ? undefined : eq(workflowArtifacts.name, name),
  );
}

/** Lists artifacts, newest first. */
export const listArtifacts = async (
  { db }: Ctx,
  filter: ArtifactFilter,
  { size, offset }: Slice,
): Promise<Listed<ListedArtifact>> =>
  toListedPage(await batch(db, pageOfArtifacts(db, { filter, size, offset })));

const pageOfArtifacts = prepareAll((db, p: Params<{ filter: ArtifactFilter } & Slice>) => ({
  rows: db
    .select(columns)
    .from(workflowArtifacts)
    .innerJoin(workflowRuns, eq(workflowRuns.id, workflowArtifacts.runId))
    .where(isListed(p.filter))
    .orderBy(desc(workflowArtifacts.id))
    .limit(p.size)
    .offset(p.offset),
  counted: db
    .select({ total: count().as("total") })
    .from(workflowArtifacts)
    .innerJoin(workflowRuns, eq(workflowRuns.id, workflowArtifacts.runId))
    .where(isListed(p.filter)),
}));

/**
 * Finds an artifact, the newest of several, in one round trip.
 *
 * @throws Failure `not_found`.
 */
export async function findArtifact(
  { db }: Pick<Ctx, "db">,
  filter: ArtifactFilter,
): Promise<ListedArtifact> {
  const [found] = await newestArtifact(db, filter);
  if (!found) throw notFound();
  return found;
}

const newestArtifact = prepare((db, filter: Params<ArtifactFilter>) =>
  db
    .select(columns)
    .from(workflowArtifacts)
    .innerJoin(workflowRuns, eq(workflowRuns.id, workflowArtifacts.runId))
    .where(isListed(filter))
    .orderBy(desc(workflowArtifacts.id))
    .limit(1),
);

/** An artifact with the parts of its file, if it is one file. */
export interface StoredArtifact extends ListedArtifact {
  readonly parts: readonly WorkflowArtifactPart[];
}

/**
 * Finds an artifact as `findArtifact` does, with what is needed to send it, in one round trip.
 *
 * @throws Failure `not_found`.
 */
export async function findStoredArtifact(
  { db }: Pick<Ctx, "db">,
  filter: ArtifactFilter,
): Promise<StoredArtifact> {
  const { artifacts, parts } = await batch(db, storedArtifact(db, filter));
  const [found] = artifacts;
  if (!found) throw notFound();
  return { ...found, parts };
}

const storedArtifact = prepareAll((db, filter: Params<ArtifactFilter>) => {
  const newest = db
    .select({ id: workflowArtifacts.id })
    .from(workflowArtifacts)
    .innerJoin(workflowRuns, eq(workflowRuns.id, workflowArtifacts.runId))
    .where(isListed(filter))
    .orderBy(desc(workflowArtifacts.id))
    .limit(1);
  return {
    artifacts: db
      .select(columns)
      .from(workflowArtifacts)
      .innerJoin(workflowRuns, eq(workflowRuns.id, workflowArtifacts.runId))
      .where(isListed(filter))
      .orderBy(desc(workflowArtifacts.id))
      .limit(1),
    parts: db
      .select(columnsOf(workflowArtifactParts, "p"))
      .from(workflowArtifactFiles)
      .innerJoin(workflowArtifactParts, eq(workflowArtifactParts.fileId, workflowArtifactFiles.id))
      .where(
        and(
          inArray(workflowArtifactFiles.artifactId, newest),
          eq(workflowArtifactFiles.path, ""),
          isNotNull(workflowArtifactParts.position),
        ),
      )
      .orderBy(asc(workflowArtifactParts.position)),
  };
});

/** An artifact that an address leads to, with the place of its repository. */
interface PlacedArtifact {
  readonly artifact: WorkflowArtifact;
  /** In lower case. */
  readonly ownerName: string;
  readonly repoName: string;
}

/**
 * Finds what a signed address leads to, in one round trip.
 *
 * @throws Failure `forbidden` if its task has ended, or the artifact is gone.
 */
export async function findAddressedArtifact(
  { db }: Pick<Ctx, "db">,
  { artifactId, taskId }: AddressedArtifact,
): Promise<PlacedArtifact> {
  const [found] = await addressedArtifact(db, {
    artifactId,
    ...(taskId !== 0 && { taskId }),
  });
  if (!found) throw forbidden("the task of the address has ended, or the artifact is gone");
  return found;
}

const addressedArtifact = prepare(
  (db, { artifactId, taskId }: Params<{ artifactId: number; taskId?: number }>) =>
    db
      .select({
        artifact: columnsOf(workflowArtifacts, "a"),
        ownerName: sql<string>`${users.lowerName}`.as("owner_name"),
        repoName: sql<string>`${repositories.lowerName}`.as("repo_name"),
      })
      .from(workflowArtifacts)
      .innerJoin(repositories, eq(repositories.id, workflowArtifacts.repoId))
      .innerJoin(users, eq(users.id, repositories.ownerId))
      .where(
        and(
          eq(workflowArtifacts.id, artifactId),
          ne(workflowArtifacts.state, "pending"),
          taskId === undefined ? undefined : isTaskRunning(taskId),
        ),
      ),
);

/** The files of an artifact that are there, in the order of their paths. */
export const listArtifactFiles = (
  { db }: Pick<Ctx, "db">,
  artifactId: number,
): Promise<readonly WorkflowArtifactFile[]> =>
  db
    .select()
    .from(workflowArtifactFiles)
    .where(
      and(
        eq(workflowArtifactFiles.artifactId, artifactId),
        eq(workflowArtifactFiles.isWhole, true),
      ),
    )
    .orderBy(asc(workflowArtifactFiles.path));

interface FileOfRun {
  readonly runId: number;
  readonly fileId: number;
}

/** A file of an artifact of a run. @throws Failure `not_found`. */
export async function findArtifactFile(
  { db }: Pick<Ctx, "db">,
  of: FileOfRun,
): Promise<WorkflowArtifactFile> {
  const [file] = await fileOfRun(db, of);
  if (!file) throw notFound();
  return file;
}

const fileOfRun = prepare((db, { runId, fileId }: Params<FileOfRun>) =>
  db
    .select(columnsOf(workflowArtifactFiles, "f"))
    .from(workflowArtifactFiles)
    .innerJoin(workflowArtifacts, eq(workflowArtifacts.id, workflowArtifactFiles.artifactId))
    .where(
      and(
        eq(workflowArtifactFiles.id, fileId),
        eq(workflowArtifactFiles.isWhole, true),
        eq(workflowArtifacts.runId, runId),
        ne(workflowArtifacts.state, "expired"),
      ),
    ),
);
