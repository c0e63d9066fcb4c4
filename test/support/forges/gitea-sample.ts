/** Objects in the JSON of Gitea's API; addresses begin with `HERE`, which the stand-in replaces. */
export type Json = Record<string, unknown>;

/** A repository of Gitea with all that is read of it. */
export interface GiteaProject {
  repository: Json;
  topics: string[];
  /** By name, as the API lists them. */
  labels: Json[];
  /** Of the organization that owns the repository. */
  ownerLabels: Json[];
  milestones: Json[];
  /** Oldest first. Without pull requests, which the list of issues has too. */
  issues: Json[];
  /** Oldest first. */
  pulls: Json[];
  /** Of issues and pull requests, oldest first. */
  comments: Json[];
  /** By the path of the thing, such as `issues/1` or `issues/comments/301`. */
  reactions: Record<string, Json[]>;
  /** By the number of the pull request. */
  reviews: Record<number, Json[]>;
  /** By the id of the review. */
  reviewComments: Record<number, Json[]>;
  /** Oldest first. */
  releases: Json[];
  /** Of releases' assets and bodies, by UUID. */
  files: Record<string, string>;
}

/** Stands for the stand-in's own root URL. */
export const HERE = "https://gitea.example";
/** The owner and name in the sample's addresses. */
export const SAMPLE_NAME = "gardeners/app";

/** The commits that the sample speaks of; a test with a real repository gives its own. */
export interface GiteaOids {
  base: string;
  feature: string;
  fix: string;
  merge: string;
}

const OIDS: GiteaOids = {
  base: "b".repeat(40),
  feature: "f".repeat(40),
  fix: "1".repeat(40),
  merge: "e".repeat(40),
};

const PAGE = `${HERE}/${SAMPLE_NAME}`;
/** Go's zero time, which Gitea writes for times that never were. */
const ZERO = "0001-01-01T00:00:00Z";

const user = (id: number, login: string): Json => ({
  id,
  login,
  login_name: "",
  full_name: "",
  email: `${login}@noreply.gitea.example`,
  avatar_url: `${HERE}/avatars/${id}`,
  username: login,
});
const ada = user(1, "ada");
const brian = user(2, "Brian.K");
/** As Gitea shows deleted accounts. */
const ghost = user(-1, "Ghost");

const at = (day: number, hour = 12): string =>
  new Date(Date.UTC(2024, 0, day, hour)).toISOString().replace(".000", "");

const repo = (fullName: string): Json => {
  const [owner = "", name] = fullName.split("/");
  return { id: 10, owner: user(3, owner), name, full_name: fullName, private: false };
};

const label = (id: number, name: string, color: string, more: Json = {}): Json => ({
  id,
  name,
  exclusive: false,
  is_archived: false,
  color,
  description: "",
  url: `${HERE}/api/v1/repos/${SAMPLE_NAME}/labels/${id}`,
  ...more,
});

const milestone = (id: number, title: string, more: Json = {}): Json => ({
  id,
  title,
  description: "",
  state: "open",
  open_issues: 0,
  closed_issues: 0,
  created_at: at(1),
  updated_at: at(2),
  closed_at: null,
  due_on: null,
  ...more,
});

const FILE_1 = "6a0c6b24-1f0e-4d3a-9d1e-1b7f4d1f0a01";
const FILE_2 = "6a0c6b24-1f0e-4d3a-9d1e-1b7f4d1f0a02";
const FILE_3 = "6a0c6b24-1f0e-4d3a-9d1e-1b7f4d1f0a03";

/** How many issues and pull requests the sample has: three pages of issues. */
const THREADS = 80;
const FILLER_FROM = 14;

const thread = (number: number, title: string, more: Json = {}): Json => ({
  id: 200 + number,
  number,
  user: ada,
  original_author: "",
  original_author_id: 0,
  title,
  body: "",
  labels: [],
  milestone: null,
  assignee: null,
  assignees: null,
  state: "open",
  is_locked: false,
  comments: 0,
  created_at: at(number),
  updated_at: at(number, 18),
  closed_at: null,
  due_date: null,
  pin_order: 0,
  ...more,
});

const issue = (number: number, title: string, more: Json = {}): Json => ({
  ...thread(number, title),
  url: `${HERE}/api/v1/repos/${SAMPLE_NAME}/issues/${number}`,
  html_url: `${PAGE}/issues/${number}`,
  assets: [],
  ref: "",
  pull_request: null,
  repository: { id: 10, name: "app", owner: "gardeners", full_name: SAMPLE_NAME },
  ...more,
});

const isPullNumber = (number: number): boolean => [2, 4, 6, 7, 8, 9].includes(number);

const comment = (id: number, number: number, body: string, more: Json = {}): Json => ({
  id,
  html_url: `${PAGE}/issues/${number}#issuecomment-${id}`,
  pull_request_url: isPullNumber(number) ? `${PAGE}/pulls/${number}` : "",
  issue_url: isPullNumber(number) ? "" : `${PAGE}/issues/${number}`,
  user: brian,
  original_author: "",
  original_author_id: 0,
  body,
  assets: [],
  created_at: at(10, id % 24),
  updated_at: at(11, id % 24),
  ...more,
});

const reaction = (who: Json, content: string): Json => ({
  user: who,
  content,
  created_at: at(12),
});

/** A project with a case of everything that Gitea has and this service takes over. */
export function makeGiteaSample(oids: GiteaOids = OIDS): GiteaProject {
  const labels = [
    label(101, "bug", "d73a4a", { description: "It is broken" }),
    label(102, "kind/old", "cccccc", { is_archived: true }),
    label(103, "prio/high", "ff0000", { exclusive: true }),
    label(104, "später ⏰", "fbca04"),
  ];
  const [bug, , high, later] = labels;
  const ownerLabels = [label(151, "organization-wide", "00ff00")];
  const next = milestone(401, "1.0 – “ready”", {
    description: "All of it",
    due_on: "2024-06-30T23:59:59+02:00",
  });
  const past = milestone(402, "0.9", { state: "closed", closed_at: at(9), due_on: at(9) });

  const branch = (name: string, oid: string, more: Json = {}): Json => ({
    label: name,
    ref: name,
    sha: oid,
    repo_id: 10,
    repo: repo(SAMPLE_NAME),
    ...more,
  });
  const pull = (number: number, title: string, head: Json, more: Json = {}): Json => ({
    ...thread(number, title),
    // Gitea counts pull requests apart from issues: an issue has the same id.
    id: 199 + number,
    url: `${PAGE}/pulls/${number}`,
    html_url: `${PAGE}/pulls/${number}`,
    requested_reviewers: [],
    draft: false,
    mergeable: true,
    merged: false,
    merged_at: null,
    merge_commit_sha: null,
    merged_by: null,
    allow_maintainer_edit: false,
    base: branch("main", oids.base),
    head,
    merge_base: oids.base,
    ...more,
  });
  const merged = { merged: true, state: "closed", merge_commit_sha: oids.merge };

  const issues = [
    issue(1, "The “first” issue 🚀", {
      body: `Broken since #3, says @brian.\n\n![screen](/attachments/${FILE_1})\n<img src="/attachments/${FILE_1}">`,
      labels: [bug, high, ownerLabels[0]],
      milestone: next,
      assignee: brian,
      assignees: [brian, ada],
      comments: 2,
      ref: "refs/heads/feature",
      due_date: "2024-03-01T23:59:59Z",
    }),
    issue(3, "Closed, and once someone else's", {
      user: ghost,
      original_author: "linus",
      original_author_id: 77,
      state: "closed",
      closed_at: at(8, 3),
      milestone: past,
      labels: [later],
      // Old issues have short names of branches.
      ref: "stable",
    }),
    issue(5, "Locked – ☃", { user: ghost, is_locked: true, body: "Nothing\u0000 here" }),
    ...[10, 11, 12, 13].map((number) => issue(number, `Of a group ${number}`, { labels: null })),
    ...Array.from({ length: THREADS - FILLER_FROM + 1 }, (_, index) =>
      issue(FILLER_FROM + index, `Filler ${FILLER_FROM + index}`, {
        // Many of one second, as if they had been imported there.
        created_at: at(20),
        updated_at: at(20 + Math.floor(index / 10)),
      }),
    ),
  ];
  const pulls = [
    pull(2, "Add a feature", branch("feature", oids.feature), {
      body: "Closes #1",
      labels: [bug],
      milestone: next,
      assignees: [ada],
      due_date: "2024-03-02T23:59:59Z",
      allow_maintainer_edit: true,
      updated_at: at(25),
    }),
    pull(4, "Fix it", branch("fix", oids.fix, { ref: "refs/pull/4/head" }), {
      ...merged,
      merged_at: at(6),
      closed_at: at(6),
      merged_by: brian,
    }),
    pull(
      6,
      "From a fork that is gone",
      branch("patch-1", oids.fix, { ref: "refs/pull/6/head", repo_id: -1, repo: null }),
      { state: "closed", closed_at: at(7), merge_base: "" },
    ),
    pull(
      7,
      "WIP: From a fork",
      branch("their/branch", oids.feature, { repo_id: 11, repo: repo("Brian.K/app-fork") }),
      { user: brian, draft: true, updated_at: at(26) },
    ),
    // Its server has another prefix for drafts.
    pull(8, "Draft: other words", branch("feature-2", oids.feature), { draft: true }),
    pull(9, "Merged by nobody", branch("fix-2", oids.fix), {
      ...merged,
      merged_at: at(9),
      closed_at: at(9),
      merged_by: null,
      is_locked: true,
    }),
  ];

  const comments = [
    comment(
      301,
      1,
      `See [the log](/attachments/${FILE_2}) and https://elsewhere.example/attachments/x`,
    ),
    comment(302, 2, "Looks good, @ada", { user: ada }),
    comment(303, 1, "From elsewhere", { user: ghost, original_author: "linus" }),
    comment(304, 5, "", { user: ghost }),
    ...Array.from({ length: 56 }, (_, index) =>
      comment(310 + index, index % 3 === 0 ? 4 : FILLER_FROM + index, `Comment ${index}`, {
        created_at: at(21),
        updated_at: at(21 + Math.floor(index / 10)),
      }),
    ),
  ];

  const review = (id: number, state: string, more: Json = {}): Json => ({
    id,
    user: brian,
    team: null,
    state,
    body: "",
    commit_id: oids.feature,
    stale: false,
    official: false,
    dismissed: false,
    comments_count: 0,
    submitted_at: at(13, id % 24),
    updated_at: at(14),
    html_url: `${PAGE}/pulls/2#issuecomment-${id}`,
    pull_request_url: `${PAGE}/pulls/2`,
    ...more,
  });
  const codeComment = (id: number, reviewId: number, more: Json): Json => ({
    id,
    body: `On code ${id}`,
    user: brian,
    resolver: null,
    pull_request_review_id: reviewId,
    created_at: at(13),
    updated_at: at(14),
    path: "src/main.c",
    commit_id: oids.feature,
    original_commit_id: "",
    diff_hunk: "@@ -1,2 +1,3 @@\n a\n-b\n+c",
    position: 0,
    original_position: 0,
    html_url: `${PAGE}/pulls/2#issuecomment-${id}`,
    pull_request_url: `${PAGE}/pulls/2`,
    ...more,
  });

  const asset = (id: number, name: string, uuid: string, size: number): Json => ({
    id,
    name,
    size,
    download_count: id % 10,
    created_at: at(16),
    uuid,
    browser_download_url: `${HERE}/attachments/${uuid}`,
  });
  const release = (id: number, tag: string, more: Json = {}): Json => ({
    id,
    tag_name: tag,
    target_commitish: "main",
    name: tag,
    body: "",
    url: `${HERE}/api/v1/repos/${SAMPLE_NAME}/releases/${id}`,
    draft: false,
    prerelease: false,
    created_at: at(id - 590),
    published_at: at(id - 590),
    author: ada,
    assets: [],
    ...more,
  });

  return {
    repository: {
      ...repo(SAMPLE_NAME),
      description: "Tools for gardeners 🌱",
      website: "https://garden.example",
      empty: false,
      archived: false,
      default_branch: "main",
      clone_url: `${PAGE}.git`,
      html_url: PAGE,
      has_issues: true,
      has_pull_requests: true,
      has_wiki: true,
    },
    topics: ["garden", "tools"],
    labels,
    ownerLabels,
    milestones: [past, next],
    issues,
    pulls,
    comments,
    reactions: {
      "issues/1": [
        reaction(ada, "+1"),
        reaction(ghost, "heart"),
        // A server may allow more than the usual ones.
        reaction(ada, "gitea"),
        ...Array.from({ length: 60 }, (_, index) =>
          reaction(user(1000 + index, `u${index}`), "eyes"),
        ),
      ],
      "issues/2": [reaction(brian, "rocket")],
      "issues/comments/301": [reaction(ada, "hooray")],
      "issues/comments/501": [reaction(ada, "laugh")],
    },
    reviews: {
      2: [
        review(701, "REQUEST_CHANGES", {
          body: `No: ![why](/attachments/${FILE_1})`,
          dismissed: true,
          comments_count: 4,
        }),
        review(702, "PENDING", { user: ada, comments_count: 1 }),
        review(703, "APPROVED", { official: true, body: "Yes" }),
        review(704, "COMMENT", { user: ghost, stale: true, comments_count: 1 }),
        review(705, "REQUEST_REVIEW", { user: ada, comments_count: 0 }),
        review(706, "REQUEST_REVIEW", { user: null, team: { id: 1, name: "Owners" } }),
      ],
      4: Array.from({ length: 52 }, (_, index) =>
        review(720 + index, "COMMENT", { body: `${index}` }),
      ),
      9: [review(790, "APPROVED", { user: null })],
    },
    reviewComments: {
      // Gitea lists them by file and line, not by age.
      701: [
        codeComment(504, 701, { original_position: 2 }),
        codeComment(501, 701, { position: 2, resolver: ada }),
        codeComment(502, 701, { position: 2, user: ada, body: "An answer" }),
        codeComment(503, 701, { path: "ä b.txt", position: 7, original_commit_id: oids.base }),
      ],
      702: [codeComment(505, 702, { position: 1 })],
      704: [codeComment(506, 704, { position: 2, user: ghost })],
    },
    releases: [
      release(601, "v0.9", { prerelease: true, author: ghost, assets: null }),
      release(602, "v1.0", {
        name: "Eins ①",
        body: `Notes of #1 [file](/attachments/${FILE_3})`,
        target_commitish: oids.base,
        assets: [asset(801, "app.tar.gz", FILE_2, 9), asset(802, "prüf summe.txt", FILE_3, 5)],
      }),
      release(603, "v1.1", { draft: true, published_at: ZERO }),
    ],
    files: { [FILE_1]: "picture", [FILE_2]: "a tarball", [FILE_3]: "a sum" },
  };
}
