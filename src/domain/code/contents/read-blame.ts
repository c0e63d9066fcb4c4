import type { Ctx } from "../../../context.ts";
import { type Blame, blame, openBlame } from "../../../git/blame/blame.ts";
import { decodeText, encodeText } from "../../../git/byte-text.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import { isBinary } from "../../../git/diff/line-diff.ts";
import { isRegularMode } from "../../../git/object/tree.ts";
import type { CommitEntry } from "../../../shapes/git/commit.ts";
import { readCommits } from "../commits/read-commits.ts";
import type { Revision } from "../git/find-revision.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { findEntry } from "./find-entry.ts";

/** Maximum size of a file whose lines are blamed, in bytes; Gitea's is the same. */
const BLAMED_BYTES_MAX = 8 * 1024 * 1024;

/** A file in a commit. */
export interface VersionPath {
  readonly commitOid: string;
  readonly path: string;
}

/** Consecutive lines of a file that come from one commit. */
export interface BlamedLines {
  /** The first line, counted from 0. */
  readonly line: number;
  readonly count: number;
  readonly entry: CommitEntry;
  /** The path that the file has in the commit. */
  readonly path: string;
  /** The version before the commit; undefined if the commit added the file. */
  readonly previous: VersionPath | undefined;
  /** Whether the lines may be older than the commit: the budget ended there. */
  readonly isOpen: boolean;
}

/** A file with the commits that its lines come from. */
export interface BlameView {
  readonly sizeBytes: number;
  /** The text; undefined for a file that is no text, or that is too large. */
  readonly text: string | undefined;
  /** All lines, in order. */
  readonly lines: readonly BlamedLines[];
}

const COMMIT_PARTS = { hasStat: false, hasFiles: false, hasVerification: false } as const;

/**
 * Finds the commit that each line of a file comes from, as `git blame` does.
 *
 * Cost: as `blame` of the engine, within the budget of a result. What the budget does not suffice
 * for is open, and the next request continues there. A read for each commit found, and one round
 * trip of the database for their authors.
 *
 * @returns Undefined if there is no file at the path.
 */
export async function readBlame(
  ctx: Ctx,
  snapshot: RepositorySnapshot,
  { node, commitOid }: Revision,
  names: readonly string[],
): Promise<BlameView | undefined> {
  const { catalog, graph, objects, results } = snapshot.repository;
  const root = await graph.loadRoot(node);
  const file = root && (await findEntry(snapshot.repository, root, names));
  if (!file || !isRegularMode(file.mode)) return undefined;
  const sizeBytes = await resident(() => {
    const location = catalog.find(file.oid);
    return location ? catalog.sizeBytes(location) : 0;
  });
  const unread = { sizeBytes, text: undefined, lines: [] };
  if (sizeBytes > BLAMED_BYTES_MAX) return unread;
  const content = (await objects.readObject(file.oid))?.content;
  if (!content || isBinary(content)) return unread;
  const text = new TextDecoder().decode(content);
  const path = names.join("/");
  const start = openBlame({ commitOid, path: encodeText(path) }, countLines(text));
  const { sources, ranges } = await results.getOrContinue<Blame>(
    ["blame", commitOid, path],
    (budget, known = start) => blame({ catalog, graph, objects }, known, budget),
  );
  const oids = [...new Set(sources.map((source) => source.commitOid))];
  const nodes = oids.map((oid) => graph.find(oid));
  const entries = await readCommits(ctx, snapshot, nodes, COMMIT_PARTS);
  const byOid = new Map(entries.map((entry) => [entry.commitOid, entry]));
  const lines = ranges.flatMap(({ line, count, source: at }) => {
    const source = sources[at];
    const entry = source && byOid.get(source.commitOid);
    if (!entry) return [];
    const { previous, isOpen } = source;
    const before = previous && { ...previous, path: decodeText(previous.path) };
    return [{ line, count, entry, path: decodeText(source.path), previous: before, isOpen }];
  });
  return { sizeBytes, text, lines };
}

/** The lines of a text as git counts them: the last one may have no line feed. */
const countLines = (text: string): number =>
  text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
