import { and, asc, eq, gt, sql, type SQL } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { codeComments, type CodeComment } from "../../../db/schema/index.ts";
import type { Budget } from "../../../git/budget.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import { followIn } from "../../../git/diff/follow-line.ts";
import { findRenames } from "../../../git/diff/renames.ts";
import type { PathEntry } from "../../../git/diff/tree-diff.ts";
import { GitError } from "../../../git/error.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { diffSides, findChanges } from "../../code/commits/find-changes.ts";
import { findFileAt } from "./find-file-at.ts";

/** Comments that one call follows, so that their rows and the files that are compared stay few. */
const FOLLOWED_AT_ONCE = 200;
/** Steps to compare files in one call: a second of processor time. */
const STEPS_MAX = 100_000_000;

/**
 * Takes the comments on code of a pull request along to another head: a comment follows its line,
 * also to another name of its file, and becomes outdated where the line was changed or removed, or
 * where the file is gone. A comment on the old side follows to another merge base.
 *
 * Repeated for the same head it changes nothing: each comment knows the commit that its line is
 * counted in.
 *
 * Cost: one query without comments to follow; otherwise also the opening of the repository, and one
 * update.
 *
 * @param newHeadOid A commit in the repository of the base.
 * @param newMergeBaseOid That of the new head; "" for none.
 * @param ids The comments that follow; all without them.
 * @returns Whether all comments follow now; if not, call it again.
 */
export async function followComments(
  ctx: Ctx,
  { repo, row }: Pick<PullContext, "repo" | "row">,
  newHeadOid: string,
  newMergeBaseOid: string,
  ids?: readonly number[],
): Promise<boolean> {
  const comments = await ctx.db
    .select(FOLLOWED)
    .from(codeComments)
    .where(
      and(
        eq(codeComments.issueId, row.id),
        eq(codeComments.isOutdated, false),
        gt(codeComments.line, 0),
        ids &&
          sql`${codeComments.entryId} in (select value from json_each(${JSON.stringify(ids)}))`,
        sql`${codeComments.commitOid} <> iif(
          ${codeComments.isOldSide}, ${newMergeBaseOid}, ${newHeadOid}
        )`,
      ),
    )
    .orderBy(asc(codeComments.path), asc(codeComments.entryId))
    .limit(FOLLOWED_AT_ONCE);
  if (comments.length === 0) return true;
  const stored = ctx.git.repository(repo.row);
  const budget = ctx.git.openBudget(STEPS_MAX);
  // SECURITY: reads with the permissions of the service, and returns nothing to a caller.
  const repository = await stored.openByBlock(await stored.snapshot("none"), budget);
  const moved = await follow(repository, comments, newHeadOid, newMergeBaseOid, budget);
  await ctx.db.update(codeComments).set(movedColumns(moved)).where(isStill(moved));
  return comments.length < FOLLOWED_AT_ONCE;
}

const FOLLOWED = {
  entryId: codeComments.entryId,
  path: codeComments.path,
  line: codeComments.line,
  startLine: codeComments.startLine,
  isOldSide: codeComments.isOldSide,
  commitOid: codeComments.commitOid,
};
type Followed = Pick<CodeComment, keyof typeof FOLLOWED>;

/** The position of a comment in another commit. */
interface Moved {
  readonly id: number;
  readonly from: string;
  readonly to: string;
  readonly path: string;
  readonly line: number;
  readonly startLine: number;
  readonly isOutdated: boolean;
}

async function follow(
  repository: OpenRepository,
  comments: readonly Followed[],
  headOid: string,
  mergeBaseOid: string,
  budget: Budget,
): Promise<Moved[]> {
  const groups = Map.groupBy(comments, ({ path, commitOid, isOldSide }) =>
    JSON.stringify([path, commitOid, isOldSide]),
  );
  const moved: Moved[] = [];
  const renames = new RenamedFiles(repository, budget);
  for (const group of groups.values()) {
    const { path, commitOid, isOldSide } = group[0] as Followed;
    const to = isOldSide ? mergeBaseOid : headOid;
    const follower = await openFollower(repository, renames, { path, from: commitOid, to }, budget);
    for (const { entryId, line, startLine } of group) {
      const [end, start] = [follower.find(line), follower.find(startLine)];
      const isKept = end !== undefined && start !== undefined && end - start === line - startLine;
      const place = isKept
        ? { path: follower.path, line: end, startLine: start }
        : { path, line, startLine };
      // An outdated comment stays where it was last.
      const at = isKept ? to : commitOid;
      moved.push({ ...place, id: entryId, from: commitOid, to: at, isOutdated: !isKept });
    }
  }
  return moved;
}

/** A file of one commit, and another commit. */
interface FollowedFile {
  readonly path: string;
  readonly from: string;
  readonly to: string;
}

/** The positions of a file's lines in another commit. */
interface Follower {
  /** The path of the file there. */
  readonly path: string;
  readonly find: (line: number) => number | undefined;
}

/**
 * Opens what finds the lines of a file of one commit in another one, where the file may have
 * another name.
 */
async function openFollower(
  repository: OpenRepository,
  renames: RenamedFiles,
  { path, from, to }: FollowedFile,
  budget: Budget,
): Promise<Follower> {
  const old = await findFileAt(repository, from, path);
  const same = old && (await findFileAt(repository, to, path));
  const fresh = same ?? (old && (await renames.find(old, from, to)));
  if (!old || !fresh) return { path, find: () => undefined };
  const newPath = decodeText(fresh.path);
  if (old.oid === fresh.oid) return { path: newPath, find: (line) => line };
  const change = { kind: "modified" as const, old, new: fresh };
  const diff = await diffSides(repository.objects.within(budget), change, budget);
  return { path: newPath, find: (line) => diff && followIn(diff, line) };
}

/** The renamed files between commits, found once for each two of them. */
class RenamedFiles {
  private readonly repository: OpenRepository;
  private readonly budget: Budget;
  private readonly known = new Map<string, ReadonlyMap<ByteText, PathEntry>>();

  constructor(repository: OpenRepository, budget: Budget) {
    this.repository = repository;
    this.budget = budget;
  }

  /**
   * The file of a commit as another one has it; undefined if it was not renamed, and where too much
   * differs to compare.
   *
   * @see git-diff(1), `-M`.
   */
  async find(old: PathEntry, from: string, to: string): Promise<PathEntry | undefined> {
    const key = `${from} ${to}`;
    const renamed = this.known.get(key) ?? (await this.compare(from, to));
    this.known.set(key, renamed);
    return renamed.get(old.path);
  }

  private async compare(from: string, to: string): Promise<ReadonlyMap<ByteText, PathEntry>> {
    const { graph, objects } = this.repository;
    const within = objects.within(this.budget);
    const [oldTree, newTree] = await Promise.all(
      [from, to].map((oid) => graph.loadRootOid(graph.find(oid))),
    );
    if (newTree === undefined) return new Map();
    try {
      const changes = (await findChanges(within, oldTree, newTree)) ?? [];
      const found = await findRenames(within, changes, this.budget);
      return new Map(
        found.flatMap((each) => (each.kind === "renamed" ? [[each.old.path, each.new]] : [])),
      );
    } catch (error) {
      if (error instanceof GitError && error.code === "limit") return new Map();
      throw error;
    }
  }
}

/** The condition that comments were not moved since they were read. */
const isStill = (moved: readonly Moved[]): SQL => sql`
  (${codeComments.entryId}, ${codeComments.commitOid}) in (
    select value ->> 'id', value ->> 'from' from json_each(${JSON.stringify(moved)})
  ) and not ${codeComments.isOutdated}`;

function movedColumns(moved: readonly Moved[]) {
  const json = JSON.stringify(moved);
  const column = (name: keyof Moved): SQL => sql`(
    select value ->> ${name} from json_each(${json}) where value ->> 'id' = ${codeComments.entryId}
  )`;
  return {
    path: column("path"),
    line: column("line"),
    startLine: column("startLine"),
    commitOid: column("to"),
    isOutdated: column("isOutdated"),
  };
}
