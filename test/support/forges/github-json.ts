import { HERE, type Json, SAMPLE_NAME } from "./github-project.ts";

// Things of GitHub in the JSON of its API, with the fields that all of them have; `more` replaces
// some.

export const API = `${HERE}/api/v3/repos/${SAMPLE_NAME}`;
export const PAGE = `${HERE}/${SAMPLE_NAME}`;

export const user = (id: number, login: string, type = "User"): Json => ({ id, login, type });
export const ada = user(1001, "ada");
export const brian = user(1002, "Brian-K");
export const bot = user(49_699_333, "dependabot[bot]", "Bot");
/** The account that GitHub shows for deleted ones; in some answers there is null instead. */
export const ghost = user(10_137, "ghost");

/** A time of January 2024. */
export const at = (day: number, hour = 12): string =>
  new Date(Date.UTC(2024, 0, day, hour)).toISOString().replace(".000", "");

export const CONTENTS = ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"];

/** What a thing says of its reactions. */
export const rollup = (reactions: readonly Json[]): Json => ({
  url: `${API}/reactions`,
  total_count: reactions.length,
  ...Object.fromEntries(
    CONTENTS.map((content) => [
      content,
      reactions.filter((each) => each["content"] === content).length,
    ]),
  ),
});

export const label = (
  id: number,
  name: string,
  color: string,
  description: string | null,
): Json => ({
  id,
  name,
  color,
  description,
  default: false,
  url: `${API}/labels/${encodeURIComponent(name)}`,
});

export const milestone = (id: number, number: number, title: string, more: Json = {}): Json => ({
  id,
  number,
  title,
  description: null,
  state: "open",
  due_on: null,
  closed_at: null,
  created_at: at(1),
  updated_at: at(2),
  ...more,
});

export const thread = (number: number, more: Json = {}): Json => ({
  id: 100_000 + number,
  number,
  url: `${API}/issues/${number}`,
  html_url: `${PAGE}/issues/${number}`,
  title: `Issue ${number}`,
  body: null,
  user: ada,
  labels: [],
  state: "open",
  state_reason: null,
  locked: false,
  active_lock_reason: null,
  assignee: null,
  assignees: [],
  milestone: null,
  comments: 0,
  created_at: at(number),
  updated_at: at(number, 18),
  closed_at: null,
  author_association: "NONE",
  reactions: rollup([]),
  ...more,
});

export const pullThread = (number: number, more: Json = {}): Json =>
  thread(number, {
    title: `Pull ${number}`,
    html_url: `${PAGE}/pull/${number}`,
    draft: false,
    pull_request: { url: `${API}/pulls/${number}`, merged_at: null },
    ...more,
  });

export const side = (
  ref: string,
  sha: string,
  repository: string | null,
  owner: Json | null = ada,
): Json => ({
  label: `${owner ? String(owner["login"]) : "unknown"}:${ref}`,
  ref,
  sha,
  user: owner,
  repo: repository === null ? null : { id: 7, full_name: repository, private: false },
});

export const pull = (number: number, more: Json = {}): Json => ({
  id: 300_000 + number,
  number,
  draft: false,
  merged_at: null,
  merged: false,
  merged_by: null,
  // A commit by which GitHub has tried to merge it.
  merge_commit_sha: "7".repeat(40),
  maintainer_can_modify: false,
  ...more,
});

export const comment = (id: number, number: number, more: Json = {}): Json => ({
  id,
  url: `${API}/issues/comments/${id}`,
  issue_url: `${API}/issues/${number}`,
  html_url: `${PAGE}/issues/${number}#issuecomment-${id}`,
  body: `Comment ${id}`,
  user: brian,
  created_at: at(id - 1998),
  updated_at: at(id - 1998),
  author_association: "CONTRIBUTOR",
  reactions: rollup([]),
  ...more,
});

export const review = (id: number, state: string, more: Json = {}): Json => ({
  id,
  state,
  user: brian,
  body: "",
  submitted_at: at(id - 3000),
  author_association: "NONE",
  ...more,
});

export const codeComment = (id: number, reviewId: number | null, more: Json = {}): Json => ({
  id,
  pull_request_review_id: reviewId,
  user: brian,
  body: `On code ${id}`,
  path: "src/a.txt",
  line: 2,
  original_line: 2,
  start_line: null,
  side: "RIGHT",
  subject_type: "line",
  diff_hunk: "@@ -1,2 +1,2 @@\n one\n-two\n+2",
  created_at: at(6),
  updated_at: at(6),
  reactions: rollup([]),
  ...more,
});

export const asset = (id: number, name: string, more: Json = {}): Json => ({
  id,
  url: `${API}/releases/assets/${id}`,
  browser_download_url: `${PAGE}/releases/download/v1.0/${name}`,
  name,
  label: null,
  state: "uploaded",
  content_type: "application/octet-stream",
  size: 0,
  download_count: 3,
  created_at: at(15),
  updated_at: at(15),
  uploader: ada,
  ...more,
});

export const release = (id: number, tag: string, more: Json = {}): Json => ({
  id,
  tag_name: tag,
  target_commitish: "main",
  name: tag,
  body: null,
  draft: false,
  prerelease: false,
  author: ada,
  created_at: at(1),
  published_at: at(14),
  assets: [],
  ...more,
});
