import { and, eq, or, type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  type WorkflowArtifact,
  workflowArtifactFiles,
  workflowArtifactParts,
  workflowArtifacts,
} from "../../../db/schema/index.ts";
import { conflict, malformed, tooLarge } from "../../../lib/failure.ts";
import { RECEIVED_COUNT_MAX, RECEIVED_FACTOR } from "./artifact-limits.ts";

/** The file to which a part belongs. */
export interface PartOfFile {
  readonly artifact: Pick<WorkflowArtifact, "id">;
  /** "" for the file of an archive. */
  readonly path: string;
  readonly isGzip: boolean;
  /** Of the whole file, as it is stored and unpacked; 0 where a list of its parts follows. */
  readonly storedBytes: number;
  readonly unpackedBytes: number;
}

/** A part of a file as it is sent. */
export interface SentPart {
  /** A part of the same name is replaced. */
  readonly name: string;
  /** Null where a list of parts follows. */
  readonly position: number | null;
  readonly sizeBytes: number;
  readonly body: ReadableStream<Uint8Array> | null;
  /** Undefined where the client states none. */
  readonly md5: Uint8Array<ArrayBuffer> | undefined;
  /** The object of the part that it replaces. */
  readonly formerUuid: string | undefined;
}

/** The condition that an artifact still takes parts: an archive until it is finished. */
const takesParts = (): SQL | undefined =>
  or(
    eq(workflowArtifacts.state, "pending"),
    and(eq(workflowArtifacts.isArchive, false), eq(workflowArtifacts.state, "ready")),
  );

/**
 * Stores a part of a file: the object first, then its row. Nothing of it is held in memory.
 *
 * Cost: one object and one round trip.
 *
 * @throws Failure `malformed` if the length or the hash differs, `too_large` beyond the bounds of
 *   an artifact, `conflict` if the artifact takes no parts any more.
 */
export async function receivePart(ctx: Ctx, file: PartOfFile, part: SentPart): Promise<void> {
  const { git, config } = ctx;
  const { id } = file.artifact;
  if (part.sizeBytes > config.artifactMaxBytes) throw tooMuch(ctx);
  const stored = { uuid: crypto.randomUUID(), sizeBytes: part.sizeBytes };
  const body = part.body ?? new Blob([]).stream();
  let isStored = false;
  try {
    if (!(await git.artifactFiles.receive(id, stored, body, part.md5))) {
      throw malformed("the length or the hash of the part differs from what is stated");
    }
    await storePart(ctx, file, part, stored.uuid);
    isStored = true;
  } finally {
    // What no row names goes with the artifact, should this fail.
    const unused = isStored ? part.formerUuid : stored.uuid;
    if (unused !== undefined) ctx.defer(git.artifactFiles.delete(id, [unused]));
  }
}

const tooMuch = ({ config }: Ctx) =>
  tooLarge(`an artifact has at most ${config.artifactMaxBytes} bytes`);

async function storePart(
  ctx: Ctx,
  { artifact: { id }, path, isGzip, storedBytes, unpackedBytes }: PartOfFile,
  { name, position, sizeBytes }: SentPart,
  uuid: string,
): Promise<void> {
  const { db, config, now } = ctx;
  const isListed = position === null;
  const isArtifact = eq(workflowArtifacts.id, id);
  const isFile = and(
    eq(workflowArtifactFiles.artifactId, id),
    eq(workflowArtifactFiles.path, path),
  );
  const fileId = sql`(
    select ${workflowArtifactFiles.id} from ${workflowArtifactFiles} where ${isFile}
  )`;
  const inserted = insertSelect(
    db,
    workflowArtifactFiles,
    { artifactId: id, path, isGzip, storedBytes, sizeBytes: unpackedBytes },
    sql`from ${workflowArtifacts} where ${and(isArtifact, takesParts())}`,
  );
  const target = [workflowArtifactFiles.artifactId, workflowArtifactFiles.path];
  const received = sql`${workflowArtifacts.receivedBytes} + ${sizeBytes}`;
  const { counted } = await batch(db, {
    // Parts of a file of another size, which was sent before under the same path.
    stale: isListed
      ? undefined
      : db.delete(workflowArtifactParts).where(
          sql`${workflowArtifactParts.fileId} = (
            select ${workflowArtifactFiles.id} from ${workflowArtifactFiles}
            where ${and(
              isFile,
              sql`(${workflowArtifactFiles.storedBytes} <> ${storedBytes}
                or ${workflowArtifactFiles.isGzip} <> ${isGzip ? 1 : 0})`,
            )}
          )`,
        ),
    file: isListed
      ? inserted.onConflictDoNothing()
      : inserted.onConflictDoUpdate({
          target,
          set: { isGzip, storedBytes, sizeBytes: unpackedBytes },
        }),
    counted: db
      .update(workflowArtifacts)
      .set({
        receivedBytes: received,
        receivedCount: sql`${workflowArtifacts.receivedCount} + 1`,
        updatedAt: now,
      })
      .where(
        and(
          isArtifact,
          takesParts(),
          sql`${received} <= ${config.artifactMaxBytes * RECEIVED_FACTOR}`,
          sql`${workflowArtifacts.receivedCount} < ${RECEIVED_COUNT_MAX}`,
        ),
      )
      .returning({ id: workflowArtifacts.id }),
    part: insertSelect(
      db,
      workflowArtifactParts,
      { fileId, name, uuid, sizeBytes, position },
      sql`where changes() > 0`,
    ).onConflictDoUpdate({
      target: [workflowArtifactParts.fileId, workflowArtifactParts.name],
      set: { uuid, sizeBytes, position },
    }),
    whole: isListed
      ? undefined
      : db
          .update(workflowArtifactFiles)
          .set({ isWhole: sql`${workflowArtifactFiles.storedBytes} = (${sumOfParts(fileId)})` })
          .where(isFile),
  });
  if (counted.length > 0) return;
  const [open] = await db
    .select({ id: workflowArtifacts.id })
    .from(workflowArtifacts)
    .where(and(isArtifact, takesParts()));
  if (!open) throw conflict("the artifact is finished");
  throw tooMuch(ctx);
}

const sumOfParts = (fileId: SQL): SQL => sql`
  select coalesce(sum(${workflowArtifactParts.sizeBytes}), 0) from ${workflowArtifactParts}
  where ${workflowArtifactParts.fileId} = ${fileId}`;
