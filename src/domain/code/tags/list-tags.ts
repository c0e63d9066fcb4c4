import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import { findTagSignature, parseTag } from "../../../git/object/tag.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import type { TagEntry } from "../../../shapes/git/tag.ts";
import type { StoredRef } from "../../../storage/repository-records.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import { type RepositorySnapshot, findRef } from "../git/open-snapshot.ts";
import { timeOfCommit } from "../git/time-of-commit.ts";
import type { Listed, Slice } from "../../slice.ts";

const PREFIX = "refs/tags/";

export const tagRef = (name: string): string => `${PREFIX}${name}`;

/**
 * Lists the tags that peel to commits, sorted by commit time, newest first, then by name.
 *
 * Sorted by the commit's time rather than the tag's: the tag's time is only in its object, and
 * reading all tag objects would take too long.
 *
 * Cost: at least one object read for each tag of the page.
 */
export async function listTags(
  snapshot: RepositorySnapshot,
  { size, offset }: Slice,
): Promise<Listed<TagEntry>> {
  const refs = snapshot.state.refs.filter(
    (ref) => ref.name.startsWith(PREFIX) && isOnCommit(snapshot, ref),
  );
  const times = new Map(refs.map((ref) => [ref, timeOfCommit(snapshot, commitOf(ref))]));
  const timeOf = (ref: StoredRef) => times.get(ref) ?? 0;
  // The sort is stable, and the refs are sorted by name.
  const sorted = refs.toSorted((a, b) => timeOf(b) - timeOf(a));
  const page = sorted.slice(offset, offset + size);
  return {
    items: await Promise.all(page.map((ref) => readTag(snapshot, ref))),
    total: refs.length,
  };
}

/** @throws Failure `not_found` if the tag does not exist or does not peel to a commit. */
export async function findTag(snapshot: RepositorySnapshot, name: string): Promise<TagEntry> {
  const ref = findRef(snapshot, tagRef(name));
  if (!ref || !isOnCommit(snapshot, ref)) throw noSuchRef(snapshot, `tag doesn't exist: ${name}`);
  return readTag(snapshot, ref);
}

const commitOf = ({ oid, peeledOid }: StoredRef) => peeledOid ?? oid;

const isOnCommit = ({ repository: { graph } }: RepositorySnapshot, ref: StoredRef): boolean =>
  graph.find(commitOf(ref)) !== NO_NODE;

/** Reads a tag that peels to a commit. */
export async function readTag(snapshot: RepositorySnapshot, ref: StoredRef): Promise<TagEntry> {
  const stored = await snapshot.repository.objects.readObject(ref.oid);
  if (!stored) throw new Error(`a tag leads to ${ref.oid}, which is not there`);
  const commitOid = commitOf(ref);
  const entry = {
    name: decodeText(ref.name.slice(PREFIX.length) as ByteText),
    oid: ref.oid,
    commitOid,
  };
  if (stored.kind !== "tag") {
    const { message, committer } = parseCommit(stored.content);
    return { ...entry, message, timeSeconds: committer.timeSeconds };
  }
  const { message, tagger } = parseTag(stored.content);
  const own = message.slice(0, findTagSignature(message)) as ByteText;
  return {
    ...entry,
    message: own,
    timeSeconds: tagger?.timeSeconds ?? timeOfCommit(snapshot, commitOid),
  };
}
