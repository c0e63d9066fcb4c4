import {
  ada,
  API,
  asset,
  at,
  bot,
  brian,
  codeComment,
  comment,
  CONTENTS,
  ghost,
  label,
  milestone,
  PAGE,
  pull,
  pullThread,
  release,
  review,
  rollup,
  side,
  thread,
  user,
} from "./github-json.ts";
import { type GitHubProject, type Json, SAMPLE_NAME } from "./github-project.ts";

/** The commits that the sample speaks of; a test with a real repository gives its own. */
export interface SampleOids {
  base: string;
  feature: string;
  fix: string;
  merge: string;
}

const OIDS: SampleOids = {
  base: "b".repeat(40),
  feature: "f".repeat(40),
  fix: "1".repeat(40),
  merge: "e".repeat(40),
};

/** How many issues and pull requests the sample has: three pages. */
const THREADS = 215;
const FILLER_FROM = 14;

/** A project with a case of everything that GitHub has and this service takes over. */
export function makeGitHubSample(oids: SampleOids = OIDS): GitHubProject {
  const labels = [
    label(501, "bug", "d73a4a", "Something isn't working"),
    label(502, "good first issue", "7057ff", null),
    label(503, "area/ui", "0E8A16", "A slash makes no scope at GitHub"),
    label(504, "später ⏰", "fbca04", ""),
  ];
  const [bug, , ui, later] = labels;
  const milestones = [
    milestone(602, 2, "0.9", { state: "closed", closed_at: at(9), due_on: "2024-01-09T08:00:00Z" }),
    milestone(601, 1, "1.0 – “ready”", {
      description: "All of it",
      due_on: "2024-06-30T07:00:00Z",
    }),
    milestone(603, 3, "Some day", {}),
  ];

  const reactions: GitHubProject["reactions"] = {
    "issues/1": CONTENTS.map((content, index) => ({
      id: 9000 + index,
      user: index === 2 ? null : index % 2 === 0 ? ada : brian,
      content,
      created_at: at(3),
    })),
    // More than two pages, of accounts that are nowhere else.
    "issues/3": Array.from({ length: 205 }, (_, index) => ({
      id: 9100 + index,
      user: user(20_000 + index, `fan${index}`),
      content: "+1",
      created_at: at(4),
    })),
    "issues/5": [{ id: 9010, user: brian, content: "rocket", created_at: at(6) }],
    "issues/comments/2001": [{ id: 9011, user: ada, content: "heart", created_at: at(4) }],
    "pulls/comments/4002": [{ id: 9012, user: brian, content: "eyes", created_at: at(7) }],
  };

  const issues = [
    thread(1, {
      title: "Crash with “ünïcode” 🎉 and <b>tags</b>",
      body: "It breaks, see #2 and octo/other#3.\r\n\r\ncc @Brian-K",
      labels: [bug, ui],
      milestone: milestones[1],
      assignee: ada,
      assignees: [ada, brian],
      comments: 2,
    }),
    thread(2, {
      title: "Asked by somebody who left",
      user: null,
      state: "closed",
      state_reason: "not_planned",
      closed_at: at(8),
      milestone: milestones[0],
      labels: [later],
      updated_at: at(8),
    }),
    thread(3, { title: "Heated", locked: true, active_lock_reason: "too heated", user: ghost }),
    thread(4, { user: bot, body: "A task\n- [x] done\n- [ ] not" }),
    pullThread(5, {
      title: "Add a feature",
      user: brian,
      labels: [ui],
      milestone: milestones[1],
      comments: 1,
    }),
    pullThread(6, {
      title: "Fix from a fork",
      body: "Closes #2",
      user: brian,
      state: "closed",
      closed_at: at(10),
      pull_request: { url: `${API}/pulls/6`, merged_at: at(10) },
    }),
    pullThread(7, {
      title: "From a fork that is gone",
      user: null,
      state: "closed",
      closed_at: at(11),
    }),
    pullThread(8, { title: "Not ready", draft: true }),
    pullThread(9, { title: "WIP: not ready either", draft: true }),
    pullThread(10, {
      title: "Merged by somebody who left",
      state: "closed",
      closed_at: at(12),
      pull_request: { url: `${API}/pulls/10`, merged_at: at(12) },
    }),
    // Numbers 11 to 13 were deleted or are discussions.
    ...Array.from({ length: THREADS }, (_, index) => thread(FILLER_FROM + index)),
  ];

  const base = side("main", oids.base, SAMPLE_NAME);
  const merged = { merged: true, merge_commit_sha: oids.merge };
  const topic = (number: number): Json => ({
    base,
    head: side(`topic-${number}`, oids.feature, SAMPLE_NAME),
  });
  const pulls = {
    5: pull(5, { base, head: side("feature", oids.feature, SAMPLE_NAME) }),
    6: pull(6, {
      base,
      head: side("main", oids.fix, "Brian-K/app", brian),
      maintainer_can_modify: true,
      merged_at: at(10),
      merged_by: ada,
      ...merged,
    }),
    7: pull(7, { base, head: side("patch-1", oids.fix, null, null), merge_commit_sha: null }),
    8: pull(8, { ...topic(8), draft: true }),
    9: pull(9, { ...topic(9), draft: true }),
    10: pull(10, { ...topic(10), merged_at: at(12), merged_by: null, ...merged }),
  };

  const comments = [
    comment(2001, 1, { body: "Me too 👋", updated_at: at(5) }),
    comment(2002, 1, { user: null }),
    comment(2003, 5, { body: "LGTM, see `a.txt`", html_url: `${PAGE}/pull/5#issuecomment-2003` }),
  ];

  const project: GitHubProject = {
    repository: {
      id: 7,
      name: "app",
      full_name: SAMPLE_NAME,
      owner: ada,
      private: false,
      description: "An app 🚀",
      homepage: "https://app.example/",
      topics: ["forge", "workers"],
      default_branch: "main",
      archived: true,
      has_issues: true,
      html_url: PAGE,
      clone_url: `${PAGE}.git`,
    },
    labels,
    milestones,
    issues,
    pulls,
    comments,
    reviews: {
      5: [
        review(3006, "COMMENTED", { body: "Two things" }),
        review(3007, "COMMENTED", { user: ada, author_association: "OWNER" }),
        review(3008, "DISMISSED", { body: "No", author_association: "COLLABORATOR" }),
        review(3009, "APPROVED", { user: null }),
        review(3010, "CHANGES_REQUESTED", { user: ghost, body: "Please" }),
        review(3011, "PENDING", { user: ada, body: "Not for others", submitted_at: undefined }),
      ],
    },
    reviewComments: {
      5: [
        codeComment(4000, null, { user: ada, body: "From before reviews", created_at: at(5, 13) }),
        codeComment(4001, 3006),
        codeComment(4002, 3006, { side: "LEFT", line: 1, start_line: 1, start_side: "LEFT" }),
        codeComment(4003, 3006, { line: null, body: "Outdated" }),
        codeComment(4004, 3006, { line: 1, subject_type: "file", body: "The whole file" }),
        codeComment(4005, 3007, { in_reply_to_id: 4001, user: ada, created_at: at(7) }),
        codeComment(4006, 3011, { user: ada, body: "Not for others", created_at: at(11) }),
      ],
    },
    requestedReviewers: { 5: { users: [ada, bot], teams: [{ id: 1, slug: "core" }] } },
    events: {
      5: [
        { id: 1, event: "labeled", created_at: at(5), label: { name: "area/ui" } },
        { id: 2, event: "review_requested", created_at: at(6, 1), requested_reviewer: ada },
        {
          id: 3,
          event: "review_requested",
          created_at: at(6, 2),
          requested_team: { slug: "core" },
        },
        {
          id: 4,
          event: "review_dismissed",
          created_at: at(9),
          dismissed_review: { state: "approved", review_id: 3008, dismissal_message: "old" },
        },
      ],
    },
    reactions,
    releases: [
      release(703, "v2.0", { draft: true, name: "Next", published_at: null, created_at: at(16) }),
      release(702, "v1.1-rc1", { prerelease: true, name: null, author: null }),
      release(701, "v1.0", {
        body: "First\n\n- ünïcode",
        name: "One",
        assets: [
          asset(801, "app.txt", { size: 6 }),
          asset(802, "Größe 1.bin", { uploader: null, size: 7 }),
          asset(803, "broken.bin", { state: "starter" }),
        ],
      }),
    ],
    files: FILES,
  };
  return withCommits(withCounts(project), oids);
}

const FILES: Record<number, string> = { 801: "an app", 802: "\u0000\u0001bytes" };

/** Sets what the things say of their reactions. */
function withCounts(project: GitHubProject): GitHubProject {
  const { reactions, issues, comments, reviewComments } = project;
  const set = (thing: Json, path: string): void => {
    thing["reactions"] = rollup(reactions[path] ?? []);
  };
  for (const issue of issues) set(issue, `issues/${String(issue["number"])}`);
  for (const each of comments) set(each, `issues/comments/${String(each["id"])}`);
  for (const each of Object.values(reviewComments).flat()) {
    set(each, `pulls/comments/${String(each["id"])}`);
  }
  return project;
}

/**
 * Sets the commits that were reviewed: the head, which is written on the base's lines; an old
 * review has none.
 */
function withCommits(project: GitHubProject, { base, feature }: SampleOids): GitHubProject {
  for (const each of Object.values(project.reviews).flat()) {
    each["commit_id"] = each["id"] === 3009 ? null : feature;
  }
  for (const each of Object.values(project.reviewComments).flat()) {
    Object.assign(each, { commit_id: feature, original_commit_id: base });
  }
  return project;
}
