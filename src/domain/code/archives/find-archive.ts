import type { Ctx } from "../../../context.ts";
import { type ByteText, encodeUtf8 } from "../../../git/byte-text.ts";
import { formatOid, type Oid } from "../../../git/oid.ts";
import type { Download } from "../../../lib/download.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { apiUrlOf } from "../../../shapes/urls.ts";
import { codec } from "../../../storage/codec.ts";
import { findRevision } from "../git/find-revision.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import { type RepositorySnapshot, openWholeSnapshot } from "../git/open-snapshot.ts";
import { revisionTime } from "../git/revision-time.ts";
import { type ArchiveFormat, MEDIA_TYPES } from "./archive-format.ts";
import { openBundle } from "./open-bundle.ts";
import { openTree } from "./open-tree.ts";

/** Hash digits in an ETag, after the commit id. */
const TAG_DIGITS = 16;

/**
 * Finds the archive of a commit's tree, or the bundle of its history.
 *
 * A tree archive is byte-identical as long as the repository name and the refs that point at the
 * commit stay the same, since `export-subst` can insert both. A bundle's pack changes with the
 * stored packs it is copied from, hence its weak tag.
 *
 * @throws Failure `not_found` if `ref` does not resolve to a commit.
 */
export async function findArchive(
  ctx: Ctx,
  repo: RepositoryContext,
  ref: string,
  format: ArchiveFormat,
): Promise<Download> {
  // An archive is read as fast as the client takes it, whatever its size.
  const snapshot = await openWholeSnapshot(ctx, repo, ctx.git.openBudget(Infinity));
  const revision = await findRevision(snapshot, ref);
  if (!revision) throw noSuchRef(snapshot);
  const { commitOid } = revision;
  const { name, lowerName } = repo.row;
  const shown = {
    name: `${name}-${ref.replaceAll("/", "-")}.${format}`,
    mediaType: MEDIA_TYPES[format],
    modifiedAt: revisionTime(snapshot, revision),
    // A branch may move to an earlier commit.
    isDateExact: ref !== commitOid,
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

/** An ETag of the commit id and a hash of everything else that the bytes depend on. */
function makeTag(commitOid: Oid, parts: readonly string[]): string {
  const hash = codec.createSha1();
  hash.update(encodeUtf8(parts.join("\0")));
  return `${commitOid}-${formatOid(hash.digest()).slice(0, TAG_DIGITS)}`;
}

/**
 * The branches and tags that point at a commit, as `git log --decorate` prints them in a mirror
 * clone.
 */
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
