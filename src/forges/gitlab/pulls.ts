import { z } from "zod";

import { draftTitleOf } from "../draft-title.ts";
import { shortText } from "../fields.ts";
import type { ForeignPull } from "../forge.ts";
import { issuableOf } from "./issues.ts";
import { listFrom, positionAfter } from "./list-position.ts";
import { numberOfPull } from "./numbering.ts";
import type { GitLabProject, ReadPage } from "./project.ts";
import { readReactions } from "./reactions.ts";
import { isAbsent, isGone } from "./requests.ts";
import { MergeRequest, OptionalOid, GitLabUser } from "./shapes.ts";

/**
 * Each takes a request for its commits and one for its reactions, and each fork of the page one
 * more.
 */
const PAGE_SIZE = 10;

const Refs = z.object({
  diff_refs: z
    .object({ base_sha: OptionalOid, head_sha: OptionalOid, start_sha: OptionalOid })
    .nullish(),
});

/** Reads merge requests. One that is deleted while its page is read is passed over. */
export const readPulls: ReadPage<ForeignPull> = async (project, { position }, { since }) => {
  const { requests, root } = project;
  const path = `${root}/merge_requests`;
  const page = await listFrom(requests, path, MergeRequest, position, { size: PAGE_SIZE, since });
  const forks = new Map<number, Promise<string>>();
  const read = await requests.readFirst(page.items, false, (item) => toPull(project, item, forks));
  const next = positionAfter(position, page, read.length);
  return {
    items: read.filter((pull) => pull !== undefined),
    next: next && { position: next },
    total: page.total,
  };
};

async function toPull(
  project: GitLabProject,
  item: MergeRequest,
  forks: Map<number, Promise<string>>,
): Promise<ForeignPull | undefined> {
  const path = `${project.root}/merge_requests/${item.iid}`;
  const refs = await readRefs(project, path);
  if (!refs) return undefined;

  const isMerged = item.state === "merged";
  const mergedAt = isMerged ? (item.merged_at ?? item.updated_at) : null;
  // `locked` is the state while it is being merged.
  const isClosed = isMerged || item.state === "closed";
  return {
    kind: "pull",
    ...issuableOf(project, item),
    foreignId: `merge_request/${item.id}`,
    number: numberOfPull(project.numbering, item.iid),
    title: titleHere(item),
    reactions: await readReactions(project, path),
    isClosed,
    closedAt: isClosed ? (mergedAt ?? item.closed_at ?? item.updated_at) : null,
    deadlineAt: null,
    head: {
      branch: item.source_branch,
      oid: item.sha || refs.headOid,
      repository: await findRepository(project, item, forks),
    },
    base: {
      branch: item.target_branch,
      oid: refs.startOid,
      repository: project.projectPath,
    },
    headRef: `refs/merge-requests/${item.iid}/head`,
    mergeBaseOid: refs.baseOid,
    allowMaintainerEdit: item.allow_collaboration ?? item.allow_maintainer_to_push ?? false,
    mergedAt,
    merger: isMerged ? GitLabUser.parse(item.merge_user ?? item.merged_by) : null,
    // Fast-forwarded, it became its own head.
    mergeCommitOid: isMerged ? item.merge_commit_sha || item.squash_commit_sha || item.sha : "",
  };
}

/** Reads the fields that lists of merge requests lack; undefined if it was deleted. */
async function readRefs({ requests }: GitLabProject, path: string) {
  try {
    const { value } = await requests.get(path, Refs);
    return {
      baseOid: value.diff_refs?.base_sha ?? "",
      headOid: value.diff_refs?.head_sha ?? "",
      startOid: value.diff_refs?.start_sha ?? "",
    };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/**
 * The full path of the project that a merge request comes from; "" if it is gone, or hidden from
 * the caller.
 */
async function findRepository(
  { requests, projectPath }: GitLabProject,
  { source_project_id: sourceId, target_project_id: targetId }: MergeRequest,
  forks: Map<number, Promise<string>>,
): Promise<string> {
  if (sourceId === targetId) return projectPath;
  if (sourceId === null || sourceId === undefined) return "";
  const found =
    forks.get(sourceId) ??
    requests.get(`/projects/${sourceId}`, z.object({ path_with_namespace: shortText })).then(
      ({ value }) => value.path_with_namespace,
      (error: unknown) => {
        if (isAbsent(error)) return "";
        throw error;
      },
    );
  forks.set(sourceId, found);
  return found;
}

/** GitLab's marker of drafts at the start of a title, which may be repeated. */
const DRAFT = /^(?:\s*(?:draft:|\[draft\]|\(draft\)))+\s*/i;

/** The title, with the marker of drafts here in place of GitLab's. */
function titleHere({ title, draft, work_in_progress: isInProgress }: MergeRequest): string {
  const isDraft = draft ?? isInProgress ?? false;
  return draftTitleOf(isDraft ? title.replace(DRAFT, "") : title, isDraft);
}
