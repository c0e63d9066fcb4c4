import { attachments, releases, type Attachment, type Release } from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";
import { freshName, type TestRepo } from "./make.ts";

/**
 * Stores a published release by the owner of a repository, past the API; its tag is not created.
 */
export async function makeRelease(
  repo: Pick<TestRepo, "id" | "ownerId">,
  fields: Partial<Release> = {},
): Promise<Release> {
  const tagName = fields.tagName ?? freshName("v");
  const values = {
    repoId: repo.id,
    tagName,
    lowerTagName: tagName.toLowerCase(),
    target: "main",
    title: freshName("release"),
    publisherId: repo.ownerId,
    createdAt: 1000,
    publishedAt: fields.isDraft ? null : 1000,
    ...fields,
  };
  return only(await db.insert(releases).values(values).returning());
}

/** Stores a file of a release, without its bytes. */
export async function makeAsset(
  { id: releaseId, repoId, publisherId }: Release,
  fields: Partial<Attachment> = {},
): Promise<Attachment> {
  const values = {
    uuid: crypto.randomUUID(),
    repoId,
    releaseId,
    uploaderId: publisherId,
    name: "a.txt",
    sizeBytes: 5,
    createdAt: 1000,
    ...fields,
  };
  return only(await db.insert(attachments).values(values).returning());
}
