import type { Ctx } from "../../context.ts";
import { type ByteText, encodeUtf8 } from "../../git/byte-text.ts";
import { formatOid, type Oid } from "../../git/oid.ts";
import type { Download } from "../../lib/download.ts";
import { notFound } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { apiUrlOf } from "../../shapes/urls.ts";
import { codec } from "../../storage/codec.ts";
import { findRevision } from "../git/find-revision.ts";
import { type RepositorySnapshot, openSnapshot } from "../git/open-snapshot.ts";
import { type ArchiveFormat, MEDIA_TYPES } from "./archive-format.ts";
import { openBundle } from "./open-bundle.ts";
import { openTree } from "./open-tree.ts";

/** Digits of a tag behind the id of the commit. */
const TAG_DIGITS = 16;

/**
 * One file of all that a commit holds, or of its history.
 *
 * Files of trees are the same, byte for byte, as long as the repository has its name and the same
 * refs lead to the commit: contents may ask for both. The pack of a bundle changes with those that
 * it is made of.
 *
 * @throws Failure `not_found` for what is no commit here.
 */
export async function findArchive(
  ctx: Ctx,
  repo: RepositoryContext,
  ref: string,
  format: ArchiveFormat,
): Promise<Download> {
  const snapshot = await openSnapshot(ctx, repo);
  const revision = findRevision(snapshot, ref);
  if (!revision) throw notFound();
  const { commitOid } = revision;
  const { name, lowerName } = repo.row;
  const shown = {
    name: `${name}-${ref.replaceAll("/", "-")}.${format}`,
    mediaType: MEDIA_TYPES[format],
  };
  if (format === "bundle") {
    return {
      ...shown,
      tag: makeTag(commitOid, [format, revision.kind, revision.name]),
      isTagWeak: true,
      immutableUrl: undefined,
      open: () => openBundle(ctx, repo, snapshot, revision),
    };
  }
  const decorations = listDecorations(snapshot, commitOid);
  return {
    ...shown,
    tag: makeTag(commitOid, [format, lowerName, ...decorations]),
    isTagWeak: false,
    immutableUrl: `${apiUrlOf(repo, ctx)}/archive/${commitOid}.${format}?rev=${commitOid}`,
    open: () => openTree(ctx, repo, snapshot, revision, format, decorations),
  };
}

/** The commit, and a hash of what else the bytes depend on. */
function makeTag(commitOid: Oid, parts: readonly string[]): string {
  const hash = codec.createSha1();
  hash.update(encodeUtf8(parts.join("\0")));
  return `${commitOid}-${formatOid(hash.digest()).slice(0, TAG_DIGITS)}`;
}

/** The branches and tags that lead to a commit, as `git log --decorate` names them in a clone of all. */
function listDecorations(
  { state: { refs, head } }: RepositorySnapshot,
  commitOid: Oid,
): ByteText[] {
  const at = refs.filter(({ oid, peeledOid }) => (peeledOid ?? oid) === commitOid);
  const named = (prefix: string, mark: string): string[] =>
    at.flatMap(({ name }) =>
      name.startsWith(prefix) && name !== head ? [mark + name.slice(prefix.length)] : [],
    );
  const current = at.some(({ name }) => name === head)
    ? [`HEAD -> ${(head ?? "").slice("refs/heads/".length)}`]
    : [];
  const others = [...named("refs/heads/", ""), ...named("refs/tags/", "tag: ")].toReversed();
  return [...current, ...others] as ByteText[];
}
