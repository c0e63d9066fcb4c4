import { and, asc, eq, ne, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { flagColumn } from "../../../db/db.ts";
import { derivedTable } from "../../../db/derived-table.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { issues, pulls, releases, users } from "../../../db/schema/index.ts";
import { NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { findRange } from "../../../git/walk/log.ts";
import { markReachable } from "../../../git/walk/reachable.ts";
import { invalid } from "../../../lib/failure.ts";
import { issueHtmlUrlOf } from "../../../shapes/issues/issue.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { encodePath, htmlUrlOf, type Root } from "../../../shapes/urls.ts";
import { findRevision, resolveName } from "../../code/git/find-revision.ts";
import { noSuchRef } from "../../code/git/no-such-ref.ts";
import { findRef, openSnapshot, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import { requireTagName } from "../../code/tags/create-tag.ts";
import { tagRef } from "../../code/tags/list-tags.ts";
import { latestFirst } from "./find-release.ts";

const named = alias(issues, "named");
const first = alias(issues, "first");
const firstPull = alias(pulls, "first_pull");
/** A page of the merged pull requests. */
const page = derivedTable("page", "issueId", "total");
/** The first merge of each author. */
const firsts = derivedTable("firsts", "posterId", "mergedAt");

/**
 * Commits whose pull requests are looked up, the latest ones: their ids are one bound value of a
 * statement.
 */
const COMMITS_MAX = 20_000;
/** Pull requests that notes list, the first ones merged. */
const PULLS_MAX = 500;
/** Characters of a body that notes fill: a release can have no more. */
const BODY_CHARS_MAX = 60_000;
/** Earlier releases among which the previous one is looked for. */
const EARLIER_MAX = 50;

/** The subject of notes. */
interface NotesSubject {
  readonly tagName: string;
  /** Where a tag that does not exist yet will be; the default branch if empty. */
  readonly target: string;
  /** The tag from which on to list; that of the release before, if empty or undefined. */
  readonly previousTag?: string | undefined;
}

/** Generated notes. */
interface Notes {
  readonly title: string;
  /** Markdown. */
  readonly body: string;
}

/** A merged pull request. */
interface MergedPull {
  readonly number: number;
  readonly title: string;
  /** Null for a deleted account. */
  readonly author: string | null;
  readonly isFirst: boolean;
  /** How many there are, of which only the first are listed. */
  readonly count: number;
}

/**
 * Generates the notes of a release from the pull requests whose merge commits its tag reaches and
 * the previous one does not: their titles and authors, who contributed for the first time, and a
 * link to the comparison. Of very many it lists the first, with their new contributors, and says
 * how many more there are.
 *
 * SECURITY: pull requests are listed for callers who may read them.
 *
 * Cost: two round trips and a walk over the commits in memory.
 *
 * @throws Failure `not_found` for an unknown target or previous tag; `invalid` in an empty
 *   repository.
 */
export async function generateNotes(
  ctx: Ctx,
  repo: RepositoryContext,
  { tagName, target, previousTag = "" }: NotesSubject,
  root: Root,
): Promise<Notes> {
  if (repo.row.isEmpty) throw invalid("repo is empty");
  requireTagName(tagName);
  const [snapshot, earlier] = await Promise.all([
    openSnapshot(ctx, repo),
    listEarlierTags(ctx, repo, tagName),
  ]);
  const tip = await findTip(snapshot, repo, tagName, target);
  const previous =
    previousTag === ""
      ? findPrevious(snapshot, tip, earlier)
      : { name: previousTag, node: requireTag(snapshot, previousTag) };
  const { graph } = snapshot.repository;
  const { nodes } = findRange(graph, [tip], previous ? [previous.node] : []);
  // Children come before their parents.
  const oids = [...nodes].slice(0, COMMITS_MAX).map((node) => graph.oid(node));
  const merged = isAllowed(repo, { unit: "pulls", mode: "read" })
    ? await listMerged(ctx, repo, oids)
    : [];
  return { title: tagName, body: formatNotes(repo, root, tagName, previous?.name, merged) };
}

/** The tags of published releases, last created first. */
async function listEarlierTags(
  { db }: Ctx,
  { row }: RepositoryContext,
  tagName: string,
): Promise<string[]> {
  const found = await earlierTags(db, { repoId: row.id, lowerTagName: tagName.toLowerCase() });
  return found.map((each) => each.tagName);
}

const earlierTags = prepare((db, p: Params<{ repoId: number; lowerTagName: string }>) =>
  db
    .select({ tagName: releases.tagName })
    .from(releases)
    .where(
      and(
        eq(releases.repoId, p.repoId),
        sql`+${releases.isDraft} = 0`,
        ne(releases.lowerTagName, p.lowerTagName),
      ),
    )
    .orderBy(...latestFirst)
    .limit(EARLIER_MAX),
);

/** The commit of the tag, or the one that it will have. */
async function findTip(
  snapshot: RepositorySnapshot,
  repo: RepositoryContext,
  tagName: string,
  target: string,
): Promise<Node> {
  if (findRef(snapshot, tagRef(tagName))) return requireTag(snapshot, tagName);
  const found = await findRevision(snapshot, target || `refs/heads/${repo.row.defaultBranch}`);
  if (!found) throw noSuchRef(snapshot, `target not found: ${target || repo.row.defaultBranch}`);
  return found.node;
}

function requireTag(snapshot: RepositorySnapshot, name: string): Node {
  const node = nodeOfTag(snapshot, name);
  if (node === NO_NODE) throw noSuchRef(snapshot, `tag doesn't exist: ${name}`);
  return node;
}

const nodeOfTag = (snapshot: RepositorySnapshot, name: string): Node =>
  resolveName(snapshot, tagRef(name))?.node ?? NO_NODE;

/** The first of some tags that a commit reaches, and that is not the commit itself. */
function findPrevious(snapshot: RepositorySnapshot, tip: Node, names: readonly string[]) {
  const reached = markReachable(snapshot.repository.graph, [tip]);
  for (const name of names) {
    const node = nodeOfTag(snapshot, name);
    if (node !== NO_NODE && node !== tip && reached[node] === 1) return { name, node };
  }
  return undefined;
}

/** Lists the pull requests that became some commits, in the order in which they were merged. */
const listMerged = async (
  { db }: Ctx,
  { row }: RepositoryContext,
  commitOids: readonly string[],
): Promise<MergedPull[]> => mergedPulls(db, { repoId: row.id, commitOids });

interface MergedQuery {
  readonly repoId: number;
  readonly commitOids: readonly string[];
}

const mergedPulls = prepare((db, { repoId, commitOids }: Params<MergedQuery>) => {
  const merged = sql`(
    select ${pulls.issueId} as issue_id, count(*) over () as total
    from ${commitOids} commits
    cross join ${pulls}
    where ${pulls.repoId} = ${repoId}
      and ${pulls.mergeCommitOid} = commits.value
      and ${pulls.mergeCommitOid} <> ''
    order by ${pulls.mergedAt}, ${pulls.issueId}
    limit ${PULLS_MAX}
  ) ${page}`;
  const firstMerges = sql`(
    select ${first.posterId} as poster_id, min(${firstPull.mergedAt}) as merged_at
    from ${issues} ${first}
    join ${pulls} ${firstPull} on ${firstPull.issueId} = ${first.id}
    where ${first.repoId} = ${repoId}
      and ${first.isPull}
      and ${first.posterId} in (
        select ${named.posterId}
        from ${merged}
        join ${issues} ${named} on ${named.id} = ${page.issueId}
      )
    group by ${first.posterId}
  ) ${firsts}`;
  return db
    .select({
      number: sql<number>`${issues.number}`.as("i_number"),
      title: sql<string>`${issues.title}`.as("i_title"),
      author: sql<string | null>`${users.name}`.as("u_name"),
      isFirst: flagColumn(sql`${firsts.mergedAt} is ${pulls.mergedAt}`, "is_first"),
      count: sql<number>`${page.total}`.as("total"),
    })
    .from(merged)
    .innerJoin(pulls, sql`${pulls.issueId} = ${page.issueId}`)
    .innerJoin(issues, eq(issues.id, pulls.issueId))
    .leftJoin(users, eq(users.id, issues.posterId))
    .leftJoin(firstMerges, sql`${firsts.posterId} = ${issues.posterId}`)
    .orderBy(asc(pulls.mergedAt), asc(pulls.issueId));
});

function formatNotes(
  repo: RepositoryContext,
  root: Root,
  tagName: string,
  previous: string | undefined,
  merged: readonly MergedPull[],
): string {
  const urlOf = ({ number }: MergedPull) =>
    issueHtmlUrlOf({ repo, row: { number, isPull: true } }, root);
  const nameOf = ({ author }: MergedPull) => (author === null ? "Ghost" : `@${author}`);
  const changes = merged.map((pull) => `* ${pull.title} by ${nameOf(pull)} in ${urlOf(pull)}`);
  const newcomers = new Map<string, MergedPull>();
  for (const pull of merged) {
    if (pull.isFirst && pull.author !== null && !newcomers.has(pull.author)) {
      newcomers.set(pull.author, pull);
    }
  }
  const firstLines = [...newcomers.values()].map(
    (pull) => `* ${nameOf(pull)} made their first contribution in ${urlOf(pull)}`,
  );
  const htmlUrl = htmlUrlOf(repo, root);
  const link =
    previous === undefined
      ? `${htmlUrl}/commits/tag/${encodePath(tagName)}`
      : `${htmlUrl}/compare/${encodePath(previous)}...${encodePath(tagName)}`;
  const sections = [
    ...(changes.length > 0 ? [`## What's Changed\n${cutLines(changes, merged[0]?.count)}`] : []),
    ...(firstLines.length > 0 ? [`## New Contributors\n${cutLines(firstLines)}`] : []),
    `**Full Changelog**: ${link}`,
  ];
  return sections.join("\n\n");
}

/**
 * As many whole lines as fit half of a body.
 *
 * @param count How many lines there would be, if not all are given.
 */
function cutLines(lines: readonly string[], count = lines.length): string {
  let chars = 0;
  const fitting = lines.filter((line) => (chars += line.length + 1) <= BODY_CHARS_MAX / 2);
  const left = count - fitting.length;
  return [...fitting, ...(left > 0 ? [`* … and ${left} more`] : [])].join("\n");
}
