import { type GiteaAnswer, json } from "./gitea-answers.ts";
import { type GiteaProject, HERE, type Json } from "./gitea-sample.ts";

/** The size of pages of issues, which requests can't change. */
const ISSUES_SIZE = 10;

/**
 * What an old server with Gogs' API answers about the project; undefined if it has no such path.
 */
export function answerGogs(project: GiteaProject, path: string, url: URL): GiteaAnswer | undefined {
  switch (path) {
    case "":
      return json(pick(project.repository, REPOSITORY));
    case "labels":
      return json(project.labels.map((each) => pick(each, LABEL)));
    case "milestones":
      return json(project.milestones.map((each) => pick(each, MILESTONE)));
    case "releases":
      return json(project.releases.map((each) => pick(each, RELEASE)).toReversed());
    case "issues":
      return listIssues(project, url);
    default: {
      const [, number] = /^issues\/(\d+)\/comments$/.exec(path) ?? [];
      return number === undefined ? undefined : json(listComments(project, number));
    }
  }
}

/** Newest first, of one state, with links that lack the state. */
function listIssues({ issues, comments }: GiteaProject, url: URL): GiteaAnswer {
  const state = url.searchParams.get("state") === "closed" ? "closed" : "open";
  const listed = issues.filter((each) => each["state"] === state).toReversed();
  const page = Math.max(1, Number(url.searchParams.get("page")) || 1);
  const last = Math.max(1, Math.ceil(listed.length / ISSUES_SIZE));
  const link = (to: number, rel: string): string =>
    `<${HERE}${url.pathname}?page=${to}>; rel="${rel}"`;
  const links = [
    ...(page < last ? [link(page + 1, "next"), link(last, "last")] : []),
    ...(page > 1 ? [link(1, "first"), link(page - 1, "prev")] : []),
  ].join(",");
  const items = listed
    .slice((page - 1) * ISSUES_SIZE, page * ISSUES_SIZE)
    .map((each) => toIssue(each, commentsOf(comments, each["number"]).length));
  return json(items, 200, links === "" ? {} : { Link: links });
}

const commentsOf = (comments: readonly Json[], number: unknown): Json[] =>
  comments.filter((each) => String(each["issue_url"]).endsWith(`/issues/${String(number)}`));

function toIssue(each: Json, commentCount: number): Json {
  const labels = (each["labels"] ?? []) as Json[];
  return {
    ...pick(each, ISSUE),
    comments: commentCount,
    labels: labels.map((label) => pick(label, LABEL)),
  };
}

/** With an entry without text for the closing of an issue. */
function listComments({ issues, comments }: GiteaProject, number: string): Json[] {
  const issue = issues.find((each) => String(each["number"]) === number);
  const closing = issue?.["state"] === "closed" ? [{ ...comments[0], id: 9000, body: "" }] : [];
  return [...commentsOf(comments, number), ...closing].map((each) => pick(each, COMMENT));
}

const pick = (thing: Json, fields: readonly string[]): Json =>
  Object.fromEntries(fields.map((field) => [field, thing[field]]));

const REPOSITORY = [
  "id",
  "owner",
  "name",
  "full_name",
  "description",
  "private",
  "empty",
  "website",
  "default_branch",
  "clone_url",
  "html_url",
];
const LABEL = ["id", "name", "color"];
const MILESTONE = ["id", "title", "description", "state", "closed_at", "due_on"];
const ISSUE = [
  "id",
  "number",
  "user",
  "title",
  "body",
  "milestone",
  "assignee",
  "state",
  "comments",
  "created_at",
  "updated_at",
  "pull_request",
];
const COMMENT = ["id", "html_url", "user", "body", "created_at", "updated_at"];
const RELEASE = [
  "id",
  "tag_name",
  "target_commitish",
  "name",
  "body",
  "draft",
  "prerelease",
  "author",
  "created_at",
];
