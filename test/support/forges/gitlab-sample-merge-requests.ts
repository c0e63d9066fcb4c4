import { account, LABELS, note, oid, SAMPLE_ID } from "./gitlab-sample-parts.ts";
import type { GitLabProjectData, Issuable, Json } from "./gitlab-data.ts";

type MergeRequests = Pick<
  GitLabProjectData,
  "mergeRequests" | "discussions" | "approvals" | "reviewers"
>;

const HEAD = oid("a");

function mergeRequest(iid: number, more: Json = {}): Issuable {
  const at = `2024-02-${`${iid}`.padStart(2, "0")}T09:00:00.000Z`;
  return {
    id: 5000 + iid,
    iid,
    project_id: SAMPLE_ID,
    title: `Merge request ${iid}`,
    description: "",
    state: "opened",
    created_at: at,
    updated_at: at,
    closed_at: null,
    merged_at: null,
    merged_by: null,
    merge_user: null,
    source_branch: `branch-${iid}`,
    target_branch: "main",
    source_project_id: SAMPLE_ID,
    target_project_id: SAMPLE_ID,
    author: account("bo.li"),
    assignees: [],
    reviewers: [],
    labels: [],
    milestone: null,
    draft: false,
    work_in_progress: false,
    sha: HEAD,
    merge_commit_sha: null,
    squash_commit_sha: null,
    user_notes_count: 0,
    discussion_locked: null,
    allow_collaboration: false,
    diff_refs: { base_sha: oid("b"), head_sha: HEAD, start_sha: oid("e") },
    ...more,
  };
}

const merged = (at: string): Json => ({
  state: "merged",
  merged_at: at,
  merge_user: account("ada"),
  merged_by: account("ada"),
});

/** A comment on a line. */
function codeNote(id: number, minute: number, position: Json, more: Json = {}): Json {
  return note(id, minute, {
    type: "DiffNote",
    resolvable: true,
    resolved: false,
    position: {
      base_sha: oid("b"),
      start_sha: oid("e"),
      head_sha: HEAD,
      old_path: "src/a.ts",
      new_path: "src/b.ts",
      position_type: "text",
      old_line: null,
      new_line: null,
      ...position,
    },
    ...more,
  });
}

const thread = (id: string, ...notes: Json[]) => ({
  id,
  individual_note: notes.length === 1,
  notes,
});

const DISCUSSIONS: GitLabProjectData["discussions"] = {
  1: [
    thread(
      "d1",
      codeNote(2001, 1, { new_line: 7 }, { resolved: true, body: "Like !2?" }),
      codeNote(2002, 2, { new_line: 7 }, { resolved: true, author: account("çelik") }),
      note(2003, 3, { system: true, body: "changed this line in version 2" }),
    ),
    thread("d2", codeNote(2004, 4, { old_line: 3 }, { author: account("ghost") })),
    thread("d3", codeNote(2005, 5, { old_line: 9, new_line: 11 })),
    thread("d4", codeNote(2006, 6, { new_line: 2, head_sha: oid("9") })),
    thread("d5", codeNote(2007, 7, { position_type: "file" })),
    thread(
      "d6",
      note(2008, 8, { body: "On all of it" }),
      note(2009, 9, { type: "DiscussionNote" }),
    ),
    thread("d7", note(2010, 10, { type: "LegacyDiffNote", body: "From old times" })),
    thread("d8", codeNote(2011, 11, { new_line: 1 }, { internal: true, body: "Between us" })),
    thread("d9", note(2012, 12, { system: true, body: "approved this merge request" })),
  ],
  // More comments than one page of reviews reads, in more conversations than a page of GitLab's.
  4: Array.from({ length: 23 }, (_, index) =>
    thread(
      `e${index}`,
      codeNote(3000 + 2 * index, index, { new_line: index + 1 }),
      codeNote(3001 + 2 * index, index, { new_line: index + 1 }),
    ),
  ),
};

/**
 * Merge requests 1 to 11 in every state, from a branch, a fork, a fork that is gone, and one that
 * is hidden.
 */
export function mergeRequestsOf(): MergeRequests {
  const mergeRequests = [
    mergeRequest(1, {
      ...merged("2024-02-10T00:00:00.000Z"),
      merge_commit_sha: oid("1"),
      squash_commit_sha: oid("2"),
      labels: [LABELS[2]],
      reviewers: [account("ada"), account("çelik")],
      user_notes_count: 10,
      description: "Closes #1, follows !11",
    }),
    mergeRequest(2, { ...merged("2024-02-11T00:00:00.000Z"), squash_commit_sha: oid("3") }),
    mergeRequest(3, {
      ...merged("2024-02-12T00:00:00.000Z"),
      merge_user: undefined,
      merged_by: account("çelik"),
    }),
    mergeRequest(4, {
      source_project_id: 77,
      allow_collaboration: true,
      reviewers: [account("ada"), account("çelik"), account("bo.li")],
      user_notes_count: 46,
    }),
    mergeRequest(5, { source_project_id: null, sha: null }),
    mergeRequest(6, { title: "Draft: [Draft] Rake", draft: true }),
    mergeRequest(7, {
      state: "closed",
      closed_at: "2024-02-13T00:00:00.000Z",
      discussion_locked: true,
      author: account("ghost"),
    }),
    mergeRequest(8, { title: "WIP: Hoe", draft: undefined, work_in_progress: true }),
    // A fork that the token may not see.
    mergeRequest(9, { source_project_id: 78, diff_refs: null }),
    mergeRequest(10, { state: "locked" }),
    mergeRequest(11),
  ];
  const reviewer = (name: Parameters<typeof account>[0], state: string): Json => ({
    user: account(name),
    state,
    created_at: "2024-02-05T00:00:00.000Z",
  });
  return {
    mergeRequests,
    discussions: DISCUSSIONS,
    approvals: {
      1: {
        approved: true,
        approved_by: [{ user: account("ada"), approved_at: "2024-02-09T00:00:00.000Z" }],
      },
      4: { approved: false, approved_by: [{ user: account("bo.li") }] },
    },
    reviewers: {
      1: [reviewer("ada", "approved"), reviewer("çelik", "reviewed")],
      4: [
        reviewer("ada", "requested_changes"),
        reviewer("çelik", "unreviewed"),
        reviewer("bo.li", "approved"),
      ],
    },
  };
}
