import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import type { PackCatalog } from "../../../git/catalog/pack-catalog.ts";
import { COMMIT } from "../../../git/object/kind.ts";
import { isWholeId, type Oid, OID_BYTES } from "../../../git/oid.ts";
import { isRefNameFormat } from "../../../git/ref-name.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { peel } from "../../../git/walk/peel.ts";
import { markReachable } from "../../../git/walk/reachable.ts";
import { invalid } from "../../../lib/failure.ts";
import type { StoredRef } from "../../../storage/repository-records.ts";
import { type RepositorySnapshot, findRef } from "./open-snapshot.ts";

/** A commit that a revision name resolved to. */
export interface Revision {
  /** Whether the name is a commit id, or a branch or tag that points at the commit. */
  readonly kind: "branch" | "tag" | "commit";
  /** The branch or tag name without `refs/heads/` or `refs/tags/`, or the full commit id. */
  readonly name: string;
  readonly commitOid: Oid;
  readonly node: Node;
}

/** Whether the text is a full commit id, which always resolves to the same commit. */
export const isPinned = ({ kind }: Revision, text: string): boolean =>
  kind === "commit" && text.length === OID_DIGITS;

/** Digits of a full commit id. */
const OID_DIGITS = 2 * OID_BYTES;
/** Minimum digits of an abbreviated commit id: shorter ones would be ambiguous. */
const PREFIX_DIGITS_MIN = 4;

/**
 * Resolves a text to a commit: HEAD, a branch or tag by its short or full ref name, or a commit id,
 * which may be abbreviated if it is unambiguous.
 *
 * SECURITY: a whole id is the object and never a ref of that name, or a branch could pretend to be
 * a commit that somebody pinned. Such names can't be created, but a repository of an earlier
 * version may have them.
 *
 * SECURITY: a commit is found by its id only if it is reachable from a ref. Force-pushed commits
 * stay stored for a while, and their id must not give access to them.
 *
 * @returns Undefined if nothing matches, or if a tag points at an object other than a commit.
 * @throws Failure `invalid` for a text that can't be a name, such as `HEAD~1` and `a..b`: git's
 * expressions are not supported.
 */
export async function findRevision(
  snapshot: RepositorySnapshot,
  text: string,
): Promise<Revision | undefined> {
  refuseExpression(text);
  return resolveRevision(snapshot, text);
}

/** @throws Failure `invalid` for a text that can't be a name, such as `HEAD~1` and `a..b`. */
export function refuseExpression(text: string): void {
  if (text !== "" && !isRefNameFormat(text)) throw invalid(`no valid ref or sha: ${text}`);
}

/** Like `findRevision`, for a text that may be no name at all. */
async function resolveRevision(
  snapshot: RepositorySnapshot,
  text: string,
): Promise<Revision | undefined> {
  if (text === "HEAD") return findHead(snapshot);
  if (isWholeId(text)) return findCommit(snapshot, text);
  const named = findNamed(snapshot, text);
  return named ? toRevision(snapshot, named) : findCommit(snapshot, text);
}

/** Resolves a branch or tag by its short or full ref name. */
export function resolveName(snapshot: RepositorySnapshot, text: string): Revision | undefined {
  const named = findNamed(snapshot, text);
  return named && toRevision(snapshot, named);
}

/** A branch or tag, which may lead to anything. */
interface NamedRef {
  readonly kind: "branch" | "tag";
  readonly name: string;
  readonly oid: Oid;
}

function findNamed(snapshot: RepositorySnapshot, text: string): NamedRef | undefined {
  const names = [
    ["branch", text.startsWith("refs/heads/") ? text : `refs/heads/${text}`],
    ["tag", text.startsWith("refs/tags/") ? text : `refs/tags/${text}`],
  ] as const;
  for (const [kind, fullName] of names) {
    const ref = findRef(snapshot, fullName);
    if (!ref) continue;
    const name = fullName.split("/").slice(2).join("/");
    return { kind, name, oid: ref.peeledOid ?? ref.oid };
  }
  return undefined;
}

/** Resolves the branch that HEAD points at. */
function findHead(snapshot: RepositorySnapshot): Revision | undefined {
  const { head } = snapshot.state;
  return head === null ? undefined : resolveName(snapshot, decodeText(head as ByteText));
}

/** Finds a commit by its id, which may be abbreviated if it is unambiguous. */
export async function findCommit(
  snapshot: RepositorySnapshot,
  text: string,
): Promise<Revision | undefined> {
  const found = (await findCommitsByIds(snapshot, [text])).get(text);
  return found && { kind: "commit", name: found.commitOid, ...found };
}

/**
 * Finds commits by ids, each whole or abbreviated, among those that are reachable from a ref.
 *
 * Cost: a walk over the commits in memory, once if anything matches. In a repository with pull
 * requests also one call of the Durable Object for a stored commit that neither a branch nor a tag
 * reaches, and another one if it is the head of none.
 */
export async function findCommitsByIds(
  snapshot: RepositorySnapshot,
  ids: readonly string[],
): Promise<Map<string, { readonly commitOid: Oid; readonly node: Node }>> {
  const { graph } = snapshot.repository;
  const commits = new Map<string, { commitOid: Oid; node: Node }>();
  const stored = new Map(ids.map((id) => [id, findStoredCommits(snapshot, id)] as const));
  const all = Array.from(stored.values(), (found) => Array.from(found)).flat();
  if (all.length === 0) return commits;
  const reached = await markCommits(snapshot, all);
  for (const [id, found] of stored) {
    const nodes = [...found].filter((each) => reached[each] === 1);
    const [node] = nodes;
    // An ambiguous id names no commit.
    if (node === undefined || nodes.length > 1) continue;
    commits.set(id, { commitOid: graph.oid(node), node });
  }
  return commits;
}

/** The stored commits with an id, reachable or not. */
function findStoredCommits({ repository }: RepositorySnapshot, id: string): Set<Node> {
  const found = new Set<Node>();
  if (!/^[0-9a-f]+$/i.test(id) || id.length < PREFIX_DIGITS_MIN || id.length > OID_DIGITS) {
    return found;
  }
  const prefix = id.toLowerCase();
  const { catalog, graph } = repository;
  for (const pack of catalog.packs) {
    if (pack.blocks) {
      const { index } = pack.blocks;
      const oids = index.findCommits(prefix).map((row) => index.commitOid(row));
      for (const oid of oids) found.add(graph.find(oid));
      continue;
    }
    const { idx } = pack;
    const { start, end } = idx.findPrefix(prefix);
    for (let position = start; position < end; position++) {
      // By the pack's own tables: another pack, whose tables are read by block, may be the home of
      // an object of the same id.
      if (pack.sidecar.kinds[position] === COMMIT) found.add(graph.find(idx.oid(position)));
    }
  }
  return found;
}

function toRevision(
  { repository: { catalog, graph } }: RepositorySnapshot,
  { kind, name, oid }: NamedRef,
): Revision | undefined {
  const node = catalog.isByBlock ? graph.find(oid) : nodeOf(catalog, graph, oid);
  return node === NO_NODE ? undefined : { kind, name, commitOid: graph.oid(node), node };
}

function nodeOf(catalog: PackCatalog, graph: CommitGraph, oid: Oid): Node {
  const found = catalog.find(oid);
  const location = found && peel(catalog, found);
  return location ? graph.nodeAt(location) : NO_NODE;
}

/**
 * A byte per node of the graph: 1 if the commit is reachable from a ref. Loads refs of pull
 * requests only while a target is not reachable.
 */
async function markCommits(
  { state, repository: { graph } }: RepositorySnapshot,
  targets: readonly Node[],
): Promise<Uint8Array> {
  const tipsOf = (refs: readonly StoredRef[]): Node[] =>
    refs.map(({ oid, peeledOid }) => graph.find(peeledOid ?? oid));
  const marks = markReachable(graph, tipsOf(state.refs));
  const findMissing = (): Node[] => targets.filter((node) => marks[node] !== 1);
  const missing = findMissing();
  if (missing.length === 0) return marks;
  const found = await state.findPullRefs(missing.map((node) => graph.oid(node)));
  markReachable(graph, tipsOf(found), marks);
  if (findMissing().length === 0) return marks;
  return markReachable(graph, tipsOf(await state.loadPullRefs()), marks);
}
