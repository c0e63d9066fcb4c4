import { draftTitleOf } from "../draft-title.ts";
import type { ForeignFilter, ForeignPage, ForeignPull } from "../forge.ts";
import { numberOf } from "../cursor.ts";
import { mapInParallel } from "../in-parallel.ts";
import { userOf } from "./authors.ts";
import type { GiteaProject } from "./gitea-project.ts";
import { ITEMS_SIZE, toIssueFields } from "./issues.ts";
import { type Branch, GiteaPull } from "./shapes.ts";

/** A part of the list of pull requests. */
interface PullWindow {
  readonly pulls: readonly GiteaPull[];
  /** The position of the next part. */
  readonly end: number;
  readonly isLast: boolean;
  readonly total: number | undefined;
}

/**
 * Reads pull requests from a position of their list on: oldest first, or of those that changed
 * lately the last first.
 *
 * The API's list knows no time, so that it is read from its newest change on until one is older.
 */
export async function readPullWindow(
  { lists, path }: GiteaProject,
  position: number,
  { since }: ForeignFilter,
  size: number,
): Promise<PullWindow> {
  const list = {
    path: `${path}/pulls`,
    shape: GiteaPull,
    query: { state: "all", sort: since === undefined ? "oldest" : "recentupdate" },
    size,
  };
  const { items, end, isLast, total } = await lists.readFrom(list, position);
  if (since === undefined) return { pulls: items, end, isLast, total };
  // The forge keeps times to the second.
  const from = Math.floor(since / 1000) * 1000;
  const pulls = items.filter(({ updated_at }) => updated_at >= from);
  return { pulls, end, isLast: isLast || pulls.length < items.length, total: undefined };
}

export async function readPulls(
  project: GiteaProject,
  cursor: string | undefined,
  filter: ForeignFilter,
): Promise<ForeignPage<ForeignPull>> {
  const position = numberOf(cursor);
  const { pulls, end, isLast, total } = await readPullWindow(project, position, filter, ITEMS_SIZE);
  const items = await mapInParallel(pulls, async (pull): Promise<ForeignPull> => {
    const merged = pull.merged ? pull : undefined;
    return {
      kind: "pull",
      ...(await toIssueFields(project, "pull", pull)),
      title: draftTitleOf(pull.title, pull.draft),
      head: toBranch(pull.head),
      base: toBranch(pull.base),
      headRef: `refs/pull/${pull.number}/head`,
      mergeBaseOid: pull.merge_base,
      allowMaintainerEdit: pull.allow_maintainer_edit,
      mergedAt: merged?.merged_at ?? null,
      merger: merged ? userOf(merged.merged_by) : null,
      mergeCommitOid: merged?.merge_commit_sha ?? "",
    };
  });
  return { items, next: isLast ? undefined : String(end), total };
}

/**
 * The ref of a head whose branch is gone is that of the pull request: then its label has the
 * branch.
 */
const toBranch = ({ label, ref, sha, repo }: Branch): ForeignPull["head"] => ({
  branch: ref.startsWith("refs/pull/") && label !== "" ? label : ref.replace(/^refs\/heads\//, ""),
  oid: sha,
  repository: repo?.full_name ?? "",
});
