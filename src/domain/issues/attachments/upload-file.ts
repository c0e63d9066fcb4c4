import { sql } from "drizzle-orm";

import { asBlocked, isBlockedBy, unlessBlocked } from "../../../auth/access/blocks.ts";
import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import { attachments, type Attachment, type User } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { requireNotArchived } from "../issue/require-issue-access.ts";
import { requireAttachmentsOn } from "./attachment-subject.ts";
import { typeFailure } from "./attachment-type.ts";
import type { FormFile } from "./form-file.ts";
import { isNoted } from "../uploads/is-noted.ts";
import { receiveFile } from "./receive-file.ts";

/**
 * Stores a file of somebody who is writing a text, which claims the file by a link once it is sent
 * (`claimUploads`). Until then it is its uploader's alone, and it is deleted after a day.
 *
 * Cost: two round trips of the database, and the storage of the file.
 *
 * @throws Failure `locked` in an archived repository; `not_found` where attachments are switched
 *   off; `forbidden` for a user whom the owner blocks; `invalid` for a forbidden type; `too_large`.
 */
export async function uploadFile(
  ctx: Ctx,
  repo: RepositoryContext,
  uploader: User,
  file: FormFile,
): Promise<Attachment> {
  requireAttachmentsOn(ctx);
  requireNotArchived(repo);
  const { db, now, config } = ctx;
  const { row } = repo;
  const rules = { types: config.attachmentTypes, typeFailure };
  const isBlocked = isBlockedBy(sql`${uploader.id}`, sql`${row.ownerId}`);
  const stored = await receiveFile(ctx, repo.owner, file, rules, async (received) => {
    const upload = {
      ...received,
      name: unlessBlocked(isBlocked, received.name),
      repoId: row.id,
      uploaderId: uploader.id,
      createdAt: now,
    };
    const noted = sql`where ${isNoted(received.uuid)}`;
    const [inserted] = await insertSelect(db, attachments, upload, noted)
      .returning()
      .catch((error: unknown) => {
        throw asBlocked(error, "attachments.name");
      });
    return inserted;
  });
  if (!stored) throw notFound();
  return stored;
}
