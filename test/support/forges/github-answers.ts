import { type GitHubProject, HERE, type Json, SAMPLE_NAME } from "./github-project.ts";

export interface GitHubAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

interface AnswerOptions {
  accept: string;
  /** Of the server of files. */
  filesUrl: string;
  hasCursors: boolean;
}

/**
 * Answers a request for a repository.
 *
 * @param path Below that of the repository.
 * @returns Undefined for what is not found.
 */
export function answerGitHub(
  project: GitHubProject,
  path: string,
  query: URLSearchParams,
  options: AnswerOptions,
): GitHubAnswer | undefined {
  if (path === "") return one(project.repository);
  const asset = /^releases\/assets\/(\d+)$/.exec(path);
  if (asset) return answerAsset(project, Number(asset[1]), options);
  const single = findSingle(project, path);
  if (single) return one(single);
  const list = findList(project, path, query);
  return list && pageOf(list, path, query, options.hasCursors);
}

function findSingle(project: GitHubProject, path: string): Json | undefined {
  const [, kind, number, part] =
    /^(issues|pulls)\/(\d+)(?:\/(requested_reviewers))?$/.exec(path) ?? [];
  const thread = project.issues.find((each) => each["number"] === Number(number));
  const pull = project.pulls[Number(number)];
  if (part) return pull && (project.requestedReviewers[Number(number)] ?? { users: [], teams: [] });
  if (kind === "issues") return thread;
  return kind === "pulls" && pull ? { ...thread, ...pull } : undefined;
}

/** @returns The whole list, in the order that the query asks for. */
function findList(
  project: GitHubProject,
  path: string,
  query: URLSearchParams,
): readonly Json[] | undefined {
  const [, number = ""] = /^(?:pulls|issues)\/(\d+)\//.exec(path) ?? [];
  const reactions = /^(.+)\/reactions$/.exec(path)?.[1];
  if (reactions !== undefined)
    return exists(project, reactions) ? (project.reactions[reactions] ?? []) : undefined;
  switch (path.replace(/\/\d+\//, "/*/")) {
    case "labels":
      return project.labels;
    case "milestones":
      return inState(project.milestones, query);
    case "issues":
      return sorted(since(inState(project.issues, query), query), query, "desc");
    case "pulls":
      return sorted(inState(project.issues.flatMap(toListedPull(project)), query), query, "desc");
    case "issues/comments":
      // Without `sort` the direction is ignored.
      return query.has("sort")
        ? sorted(since(project.comments, query), query, "asc")
        : since(project.comments, query);
    case "pulls/*/reviews":
      return number in project.pulls ? (project.reviews[Number(number)] ?? []) : undefined;
    case "pulls/*/comments":
      return number in project.pulls ? (project.reviewComments[Number(number)] ?? []) : undefined;
    case "issues/*/events":
      return project.events[Number(number)] ?? [];
    case "releases":
      return project.releases;
    default:
      return undefined;
  }
}

function exists(project: GitHubProject, path: string): boolean {
  const [, kind, id] = /^(issues|issues\/comments|pulls\/comments)\/(\d+)$/.exec(path) ?? [];
  if (kind === "issues") return project.issues.some(({ number }) => number === Number(id));
  const comments =
    kind === "issues/comments" ? project.comments : Object.values(project.reviewComments).flat();
  return comments.some((comment) => comment["id"] === Number(id));
}

/** Lists of pull requests leave out what has to be found out for each. */
const toListedPull =
  ({ pulls }: GitHubProject) =>
  (thread: Json): Json[] => {
    const pull = pulls[Number(thread["number"])];
    if (!pull) return [];
    const { merged: _, merged_by: __, maintainer_can_modify: ___, ...listed } = pull;
    const { reactions: ____, ...fields } = thread;
    return [{ ...fields, ...listed }];
  };

function inState(items: readonly Json[], query: URLSearchParams): readonly Json[] {
  const state = query.get("state") ?? "open";
  return state === "all" ? items : items.filter((item) => item["state"] === state);
}

function since(items: readonly Json[], query: URLSearchParams): readonly Json[] {
  const from = query.get("since");
  if (from === null) return items;
  return items.filter((item) => Date.parse(String(item["updated_at"])) >= Date.parse(from));
}

function sorted(items: readonly Json[], query: URLSearchParams, usual: string): readonly Json[] {
  const field = query.get("sort") === "updated" ? "updated_at" : "created_at";
  const ascending = items.toSorted(
    (a, b) => Date.parse(String(a[field])) - Date.parse(String(b[field])),
  );
  return (query.get("direction") ?? usual) === "asc" ? ascending : ascending.toReversed();
}

const PER_PAGE = 30;
const PER_PAGE_MAX = 100;

/** A page of a list, and where the others are. */
export function pageOf(
  items: readonly unknown[],
  path: string,
  query: URLSearchParams,
  hasCursors: boolean,
): GitHubAnswer {
  const size = Math.min(Number(query.get("per_page") ?? PER_PAGE), PER_PAGE_MAX);
  if (hasCursors && Number(query.get("page") ?? 1) > 1) {
    const message =
      "Pagination with the page parameter is not supported for large datasets, please use cursor based pagination (after/before)";
    return { ...one({ message, status: "422" }), status: 422 };
  }
  const after = Buffer.from(query.get("after") ?? "", "base64url").toString();
  const start = hasCursors
    ? Number(after.replace("cursor:", ""))
    : (Math.max(1, Number(query.get("page") ?? 1)) - 1) * size;
  const page = items.slice(start, start + size);
  const next = start + size < items.length ? start + size : undefined;
  const linkTo = (from: number, rel: string): string => {
    const target = new URLSearchParams(query);
    if (hasCursors) target.set("after", Buffer.from(`cursor:${from}`).toString("base64url"));
    else target.set("page", String(from / size + 1));
    return `<${HERE}/api/v3/repositories/${SAMPLE_NAME}/${path}?${target.toString()}>; rel="${rel}"`;
  };
  const last = Math.max(0, Math.ceil(items.length / size) - 1) * size;
  const links = [
    ...(start > 0 && !hasCursors ? [linkTo(start - size, "prev"), linkTo(0, "first")] : []),
    ...(next === undefined ? [] : [linkTo(next, "next")]),
    ...(next === undefined || hasCursors ? [] : [linkTo(last, "last")]),
  ];
  const answer = one(page);
  return links.length === 0
    ? answer
    : { ...answer, headers: { ...answer.headers, Link: links.join(", ") } };
}

/**
 * An asset's description, or for those who ask for bytes a redirect to them, for a short while and
 * without credentials.
 */
function answerAsset(
  project: GitHubProject,
  id: number,
  { accept, filesUrl }: AnswerOptions,
): GitHubAnswer | undefined {
  const assets = project.releases.flatMap((release) => release["assets"] as Json[]);
  const asset = assets.find((each) => each["id"] === id);
  if (!asset || !accept.includes("application/octet-stream")) return asset && one(asset);
  return { status: 302, headers: { Location: `${filesUrl}/${id}` }, body: "" };
}

/** A thing by itself. */
export const one = (value: unknown): GitHubAnswer => ({
  status: 200,
  headers: { "Content-Type": "application/json; charset=utf-8" },
  body: JSON.stringify(value),
});
