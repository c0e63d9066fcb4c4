import { z } from "@hono/zod-openapi";

import type {
  Attachment as AttachmentRow,
  Release as ReleaseRow,
  User as UserRow,
} from "../../db/schema/index.ts";
import { formatTime } from "../../lib/time.ts";
import { Attachment, toAttachment } from "../issues/attachment.ts";
import { Int64, Time } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { encodePath, htmlUrlOf, releaseApiUrlOf, releaseHtmlUrlOf } from "../urls.ts";
import { toGhost, toUser, User } from "../users/user.ts";
import type { Viewer } from "../viewer.ts";

export const Release = z
  .object({
    id: Int64,
    tag_name: z.string().openapi({ example: "v1.0" }),
    target_commitish: z.string().openapi({
      description:
        "The branch or commit from which the tag is created; may be empty if the tag was there before",
    }),
    name: z.string(),
    body: z.string(),
    url: z.string().openapi({ format: "uri" }),
    html_url: z.string().openapi({ format: "uri" }),
    tarball_url: z.string().openapi({ format: "uri" }),
    zipball_url: z.string().openapi({ format: "uri" }),
    upload_url: z.string().openapi({ format: "uri" }),
    draft: z.boolean(),
    prerelease: z.boolean(),
    created_at: Time,
    published_at: Time.openapi({
      description: "When it was last published; of a draft that never was, when it was last edited",
    }),
    author: User,
    assets: z.array(Attachment).openapi({ description: "By name" }),
  })
  .openapi("Release");
export type Release = z.infer<typeof Release>;

/** A release as queries return it. */
export interface ReleaseContext {
  readonly repo: RepositoryContext;
  readonly row: ReleaseRow;
  /** Undefined for a deleted account. */
  readonly publisher: UserRow | undefined;
  /** By name. */
  readonly assets: readonly AttachmentRow[];
}

/** Formats a release for `viewer`. */
export function toRelease(release: ReleaseContext, viewer: Viewer): Release {
  const { repo, row, publisher, assets } = release;
  const reader = { ...viewer, userId: undefined, isSiteAdmin: false };
  const url = releaseApiUrlOf(repo, row.id, viewer);
  const archive = `${htmlUrlOf(repo, viewer)}/archive/${encodePath(row.tagName)}`;
  return {
    id: row.id,
    tag_name: row.tagName,
    target_commitish: row.target,
    name: row.title,
    body: row.body,
    url,
    html_url: releaseHtmlUrlOf(repo, row.tagName, viewer),
    tarball_url: `${archive}.tar.gz`,
    zipball_url: `${archive}.zip`,
    upload_url: `${url}/assets`,
    draft: row.isDraft,
    prerelease: row.isPrerelease,
    created_at: formatTime(row.createdAt),
    published_at: formatTime(row.publishedAt ?? row.createdAt),
    // As for anonymous readers, as in Gitea: a release is shown as it is published.
    author: publisher ? toUser(publisher, reader) : toGhost(reader),
    assets: assets.map((each) => toReleaseAsset(each, release, viewer)),
  };
}

/** Whether a release has another file of the same name, so that only its UUID says which it is. */
export const hasNamesake = (
  { id, name }: AttachmentRow,
  { assets }: Pick<ReleaseContext, "assets">,
): boolean => assets.some((each) => each.name === name && each.id !== id);

/**
 * Formats a file of a release. Its URL ends in its name, by which clients save it, unless the
 * release has another file of that name.
 */
export function toReleaseAsset(
  asset: AttachmentRow,
  release: ReleaseContext,
  viewer: Viewer,
): Attachment {
  const { repo, row } = release;
  const { name } = asset;
  const path = [row.tagName, name].map((each) => encodeURIComponent(each.toWellFormed()));
  const url = `${htmlUrlOf(repo, viewer)}/releases/download/${path.join("/")}`;
  return toAttachment(asset, viewer, hasNamesake(asset, release) ? undefined : url);
}
