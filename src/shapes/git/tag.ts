import { z } from "@hono/zod-openapi";

import { type ByteText, decodeText } from "../../git/byte-text.ts";
import { findTagSignature, type Tag as GitTag } from "../../git/object/tag.ts";
import type { Oid } from "../../git/oid.ts";
import { CommitMeta, CommitUser } from "./commit.ts";
import { encodePath, htmlUrlOf, objectUrlOf } from "../urls.ts";
import { NEVER } from "../json.ts";
import { formatGitTime } from "./git-time.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { PayloadCommitVerification, toVerification, type Verification } from "./verification.ts";
import type { Viewer } from "../viewer.ts";

export const Tag = z
  .object({
    name: z.string().openapi({ example: "v1.0" }),
    message: z
      .string()
      .openapi({ description: "The message of the tag; of the commit for a lightweight tag" }),
    id: z
      .string()
      .openapi({ description: "Id of the tag object, or of the commit for a lightweight tag" }),
    commit: CommitMeta,
    zipball_url: z.string().openapi({ format: "uri" }),
    tarball_url: z.string().openapi({ format: "uri" }),
  })
  .openapi("Tag");
export type Tag = z.infer<typeof Tag>;

/** A tag that points to a commit. */
export interface TagEntry {
  readonly name: string;
  /** The target of the ref: the tag object, or the commit. */
  readonly oid: Oid;
  readonly commitOid: Oid;
  readonly message: ByteText;
  /** Time of the tag, or of the commit if the tag has none, in seconds. */
  readonly timeSeconds: number;
}

export function toTag(repo: RepositoryContext, tag: TagEntry, viewer: Viewer): Tag {
  const archive = `${htmlUrlOf(repo, viewer)}/archive/${encodePath(tag.name)}`;
  return {
    name: tag.name,
    message: decodeText(tag.message).trim(),
    id: tag.oid,
    commit: {
      url: objectUrlOf(repo, "commit", tag.commitOid, viewer),
      sha: tag.commitOid,
      created: formatGitTime(tag.timeSeconds),
    },
    zipball_url: `${archive}.zip`,
    tarball_url: `${archive}.tar.gz`,
  };
}

const AnnotatedTagObject = z
  .object({
    type: z.enum(["commit", "tree", "blob", "tag"]),
    url: z.string().openapi({ format: "uri" }),
    sha: z.string(),
  })
  .openapi("AnnotatedTagObject");

export const AnnotatedTag = z
  .object({
    tag: z.string(),
    sha: z.string(),
    url: z.string().openapi({ format: "uri" }),
    message: z.string(),
    tagger: CommitUser,
    object: AnnotatedTagObject,
    verification: PayloadCommitVerification,
  })
  .openapi("AnnotatedTag");

/** An annotated tag's object, with the verification of its signature. */
export interface AnnotatedTagEntry {
  readonly oid: Oid;
  readonly tag: GitTag;
  readonly verification: Verification;
}

/** Formats an annotated tag. The signature at the end of its message is removed. */
export function toAnnotatedTag(
  repo: RepositoryContext,
  { oid, tag, verification }: AnnotatedTagEntry,
  viewer: Viewer,
): z.infer<typeof AnnotatedTag> {
  const { name, message, tagger, targetKind, targetOid } = tag;
  return {
    tag: decodeText(name),
    sha: oid,
    url: objectUrlOf(repo, "tag", oid, viewer),
    message: decodeText(message.slice(0, findTagSignature(message)) as ByteText),
    tagger: {
      name: tagger ? decodeText(tagger.name) : "",
      email: tagger ? decodeText(tagger.email) : "",
      date: tagger ? formatGitTime(tagger.timeSeconds) : NEVER,
    },
    object: {
      type: targetKind,
      url: objectUrlOf(repo, targetKind, targetOid, viewer),
      sha: targetOid,
    },
    verification: toVerification(verification),
  };
}
