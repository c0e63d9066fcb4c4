import { mergeRequestsOf } from "./gitlab-sample-merge-requests.ts";
import { account, award, LABELS, note, oid, SAMPLE_ID } from "./gitlab-sample-parts.ts";
import type { GitLabProjectData, Issuable, Json } from "./gitlab-data.ts";

/** The path of the sample, in a group of a group. */
export const SAMPLE_PATH = "garden/tools/spade.works";
/** The highest numbers of its issues and merge requests. */
export const SAMPLE_ISSUE_MAX = 45;
export const SAMPLE_PULL_MAX = 11;

const MILESTONES: Json[] = [
  {
    id: 31,
    iid: 1,
    project_id: SAMPLE_ID,
    title: "1.0",
    description: "What !2 began",
    state: "active",
    due_date: "2024-06-30",
    start_date: null,
    created_at: "2024-01-02T00:00:00.000Z",
    updated_at: "2024-01-03T00:00:00.000Z",
  },
  {
    id: 32,
    iid: 2,
    project_id: SAMPLE_ID,
    title: "0.9",
    description: null,
    state: "closed",
    due_date: null,
    start_date: null,
    created_at: "2023-01-02T00:00:00.000Z",
    updated_at: "2023-12-24T18:00:00.000+01:00",
  },
  {
    id: 33,
    iid: 1,
    group_id: 7,
    title: "Spring",
    description: "",
    state: "active",
    due_date: null,
    start_date: "2024-03-01",
    created_at: "2024-01-05T00:00:00.000Z",
    updated_at: "2024-01-05T00:00:00.000Z",
  },
];

export const UPLOAD = `/uploads/${"0123456789abcdef".repeat(2)}/plan%20b.png`;

const FIRST_BODY = `Grüße 👋 from @bo.li, see #2, !4 and garden/tools/spade.works!4, not other/group!4.

![plan](${UPLOAD}) and \`!4 ${UPLOAD}\`

~~~
!4
~~~
`;

function issue(iid: number, more: Json = {}): Issuable {
  const day = `${Math.floor(iid / 28) + 1}`.padStart(2, "0");
  const at = `2024-${day}-${`${(iid % 28) + 1}`.padStart(2, "0")}T10:00:00.${100 + iid}Z`;
  return {
    id: 5000 + iid,
    iid,
    project_id: SAMPLE_ID,
    title: `Issue ${iid}`,
    description: null,
    state: "opened",
    created_at: at,
    updated_at: at,
    closed_at: null,
    closed_by: null,
    labels: [],
    milestone: null,
    assignees: [],
    author: account("ada"),
    type: "ISSUE",
    issue_type: "issue",
    user_notes_count: 0,
    due_date: null,
    confidential: false,
    discussion_locked: null,
    ...more,
  };
}

/** The time at which 24 issues were imported there, more than a page of them. */
const IMPORTED_AT = "2024-01-20T12:00:00.000Z";

/** Issues 1 to 45, without 4, which was deleted. */
function issues(): Issuable[] {
  const special: Record<number, Json> = {
    1: {
      title: "Ünïcode 🌱",
      description: FIRST_BODY,
      labels: [LABELS[0], LABELS[1]],
      milestone: MILESTONES[2],
      assignees: [account("bo.li"), account("çelik")],
      due_date: "2024-05-01",
      user_notes_count: 4,
    },
    2: {
      state: "closed",
      closed_at: "2024-02-03T04:05:06.789Z",
      discussion_locked: true,
      author: account("ghost"),
      issue_type: "incident",
      user_notes_count: 1,
    },
    3: { author: null, user_notes_count: 45 },
    5: { title: "A secret", confidential: true, user_notes_count: 1 },
  };
  const list: Issuable[] = [];
  for (let iid = 1; iid <= SAMPLE_ISSUE_MAX; iid++) {
    const created = iid >= 20 && iid < 44 ? { created_at: IMPORTED_AT } : {};
    if (iid !== 4) list.push(issue(iid, { ...created, ...special[iid] }));
  }
  return list;
}

const NOTES: Record<number, Json[]> = {
  1: [
    note(901, 1, { body: "As !5 says: `!5`" }),
    note(902, 2, { body: "changed the description", system: true, author: account("ada") }),
    note(903, 3, { body: "Between us", internal: true, confidential: true }),
    note(904, 4, { author: null, type: "DiscussionNote", updated_at: "2024-04-01T00:00:00.000Z" }),
  ],
  2: [note(905, 1)],
  3: Array.from({ length: 45 }, (_, index) => note(1000 + index, index)),
  5: [note(906, 1, { body: "Secret too" })],
};

function releases(origin: string): Json[] {
  const link = (id: number, name: string, url: string): Json => ({
    id,
    name,
    url,
    direct_asset_url: url,
    link_type: "other",
  });
  const sources = [{ format: "zip", url: `${origin}/${SAMPLE_PATH}/-/archive/v1.0/x-v1.0.zip` }];
  return [
    {
      tag_name: "v1.0",
      name: "One 🎉",
      description: "Has !2",
      created_at: "2024-05-02T00:00:00.000Z",
      released_at: "2024-05-01T00:00:00.000Z",
      upcoming_release: false,
      author: account("ada"),
      commit: { id: oid("c") },
      assets: {
        count: 4,
        sources,
        links: [
          link(
            61,
            "spade.bin",
            `${origin}/api/v4/projects/${SAMPLE_ID}/packages/generic/spade/1.0/spade.bin`,
          ),
          link(62, "elsewhere.txt", "https://downloads.example/elsewhere.txt"),
          link(63, "other.txt", `${origin}/api/v4/projects/43/packages/generic/x/1/other.txt`),
        ],
      },
    },
    {
      tag_name: "v0.9",
      name: null,
      description: null,
      created_at: "2023-05-01T00:00:00.000Z",
      released_at: null,
      upcoming_release: false,
      author: null,
      commit: null,
      assets: { count: 0, sources: [], links: [] },
    },
    {
      tag_name: "v2.0",
      name: "Two",
      description: "Soon",
      created_at: "2024-06-01T00:00:00.000Z",
      released_at: "2124-01-01T00:00:00.000Z",
      upcoming_release: true,
      author: account("ghost"),
      commit: { id: oid("d") },
      assets: { count: 0, sources, links: [] },
    },
  ];
}

/** A project with all that an import meets. */
export function sampleProject(origin: string): GitLabProjectData {
  const webUrl = `${origin}/${SAMPLE_PATH}`;
  return {
    project: {
      id: SAMPLE_ID,
      name: "Spade works",
      description: "Digs 🌱",
      path_with_namespace: SAMPLE_PATH,
      default_branch: "main",
      visibility: "private",
      archived: true,
      topics: ["garden", "tools"],
      tag_list: ["garden", "tools"],
      http_url_to_repo: `${webUrl}.git`,
      ssh_url_to_repo: `git@gitlab.example:${SAMPLE_PATH}.git`,
      web_url: webUrl,
      issues_access_level: "enabled",
      merge_requests_access_level: "private",
    },
    formerPaths: ["garden/old-spade"],
    forks: [{ id: 77, path_with_namespace: "çelik/spade", web_url: `${origin}/çelik/spade` }],
    labels: LABELS,
    milestones: MILESTONES,
    issues: issues(),
    ...mergeRequestsOf(),
    notes: NOTES,
    awards: {
      "issues/1": [
        award("thumbsup", "bo.li", 1),
        award("tada", "çelik", 2),
        award("100", "ada", 3),
        award("eyes", "ghost", 4),
      ],
      "issues/1/notes/901": [award("laughing", "ada")],
      "merge_requests/1": [award("rocket", "ada"), award("confused", "bo.li", 2)],
      "merge_requests/1/notes/2001": [award("heart", "ada"), award("thumbsdown", "bo.li", 2)],
      // More than a page.
      "issues/2": Array.from({ length: 130 }, (_, index) => award("heart", "ada", index + 1)),
    },
    releases: releases(origin),
    files: {
      [`/api/v4/projects/${encodeURIComponent(SAMPLE_PATH)}/packages/generic/spade/1.0/spade.bin`]:
        "a spade",
    },
  };
}

/**
 * A public project whose settings strangers do not see, with neither issues nor merge requests for
 * them.
 */
export function publicProject(origin: string): GitLabProjectData {
  const sample = sampleProject(origin);
  const webUrl = `${origin}/garden/open`;
  return {
    ...sample,
    project: {
      ...sample.project,
      id: 44,
      description: null,
      path_with_namespace: "garden/open",
      default_branch: null,
      visibility: "public",
      archived: false,
      http_url_to_repo: `${webUrl}.git`,
      web_url: webUrl,
      merge_requests_access_level: "disabled",
    },
    formerPaths: [],
    forks: [],
    files: {},
  };
}

/** The sample, for everybody to see. */
export function visibleProject(origin: string): GitLabProjectData {
  const sample = sampleProject(origin);
  const own = { id: 45, path_with_namespace: "garden/visible", visibility: "public" };
  return {
    ...sample,
    project: { ...sample.project, ...own },
    formerPaths: [],
    forks: [],
    files: {},
  };
}
