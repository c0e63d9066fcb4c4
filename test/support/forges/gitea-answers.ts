import { type GiteaProject, HERE, type Json } from "./gitea-sample.ts";

export interface GiteaAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export const json = (
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): GiteaAnswer => ({
  status,
  headers: { "Content-Type": "application/json;charset=utf-8", ...headers },
  body: JSON.stringify(body),
});

export const NOT_FOUND = json(
  { message: "The target couldn't be found.", url: `${HERE}/api/swagger`, errors: [] },
  404,
);

/** What a request asks for. */
export interface GiteaRequest {
  /** Below the repository in the API, such as `issues/1`. */
  path: string;
  url: URL;
  /** The setting `MAX_RESPONSE_ITEMS`. */
  itemsMax: number;
  /** Whether the caller may write. */
  isWriter: boolean;
}

const DEFAULT_ITEMS = 30;

/** What the API answers about a repository; undefined if it has no such path. */
export function answerGitea(project: GiteaProject, request: GiteaRequest): GiteaAnswer | undefined {
  const { path, isWriter } = request;
  const query = request.url.searchParams;
  switch (path) {
    case "":
      return json(project.repository);
    case "topics":
      return json({ topics: project.topics });
    case "labels":
      return list(request, project.labels, { isWholeWithoutPage: true });
    case "milestones": {
      const state = query.get("state") || "open";
      const milestones = project.milestones.filter((each) => hasState(each, state));
      return list(request, milestones, { isWholeWithoutPage: true });
    }
    case "issues":
      return list(request, listIssues(project, query), { hasLinks: true });
    case "pulls":
      return list(request, listPulls(project, query), { hasLinks: true });
    case "issues/comments":
      return list(request, changedSince(project.comments, query));
    case "releases": {
      const releases = project.releases.filter((each) => isWriter || each["draft"] === false);
      return list(request, releases.toReversed(), { hasLinks: true });
    }
    default:
      return answerThread(project, request);
  }
}

/** Paths below an issue, pull request or comment. */
function answerThread(project: GiteaProject, request: GiteaRequest): GiteaAnswer | undefined {
  const { path, isWriter } = request;
  const [, kind = "", number = "", rest = ""] =
    /^(issues\/comments|issues|pulls)\/(\d+)(?:\/(.*))?$/.exec(path) ?? [];
  if (kind === "issues/comments" && rest === "reactions") {
    // Has no pages, and is null without reactions.
    return json(project.reactions[`issues/comments/${number}`] ?? null);
  }
  if (kind === "issues" && rest === "reactions") {
    return list(request, project.reactions[`issues/${number}`] ?? []);
  }
  if (kind === "issues" && rest === "comments") {
    const comments = project.comments.filter(({ issue_url, pull_request_url }) =>
      `${String(issue_url)}${String(pull_request_url)}`.endsWith(`/${number}`),
    );
    return json(comments);
  }
  if (kind !== "pulls") return undefined;
  const reviews = (project.reviews[Number(number)] ?? []).filter(
    ({ state }) => isWriter || state !== "PENDING",
  );
  if (rest === "reviews") return list(request, reviews);
  const reviewId = Number(/^reviews\/(\d+)\/comments$/.exec(rest)?.[1]);
  return reviews.some(({ id }) => id === reviewId)
    ? json(project.reviewComments[reviewId] ?? null)
    : undefined;
}

/** Newest first, whatever order is asked for. */
function listIssues({ issues, pulls }: GiteaProject, query: URLSearchParams): Json[] {
  const type = query.get("type");
  const listed = [...(type === "pulls" ? [] : issues), ...(type === "issues" ? [] : pulls)];
  return changedSince(listed, query)
    .filter((each) => hasState(each, query.get("state") || "open"))
    .toSorted((a, b) => compare(b, a, "created_at") || Number(b["id"]) - Number(a["id"]));
}

function listPulls({ pulls }: GiteaProject, query: URLSearchParams): Json[] {
  const listed = pulls.filter((each) => hasState(each, query.get("state") || "open"));
  switch (query.get("sort")) {
    case "oldest":
      return listed;
    case "recentupdate":
      return listed.toSorted((a, b) => compare(b, a, "updated_at"));
    default:
      return listed.toReversed();
  }
}

const compare = (a: Json, b: Json, field: string): number =>
  Date.parse(String(a[field])) - Date.parse(String(b[field]));

const hasState = (thing: Json, state: string): boolean =>
  state === "all" || thing["state"] === state;

const changedSince = (things: readonly Json[], query: URLSearchParams): Json[] => {
  const since = Date.parse(query.get("since") ?? "1970-01-01T00:00:00Z");
  return things.filter(({ updated_at }) => Date.parse(String(updated_at)) >= since);
};

/** A page with the headers of Gitea's lists. */
export function list(
  { url, itemsMax }: Pick<GiteaRequest, "url" | "itemsMax">,
  items: readonly Json[],
  { isWholeWithoutPage = false, hasLinks = false } = {},
): GiteaAnswer {
  const total = { "X-Total-Count": String(items.length) };
  const asked = Number(url.searchParams.get("page"));
  if (isWholeWithoutPage && !(asked > 0)) return json(items, 200, total);
  const page = Math.max(1, asked || 1);
  const limit = Number(url.searchParams.get("limit"));
  const size = limit > 0 ? Math.min(limit, itemsMax) : Math.min(DEFAULT_ITEMS, itemsMax);
  const links = hasLinks ? linksOf(url, page, Math.ceil(items.length / size)) : "";
  return json(items.slice((page - 1) * size, page * size), 200, {
    ...total,
    ...(links !== "" && { Link: links }),
  });
}

function linksOf(url: URL, page: number, last: number): string {
  const link = (to: number, rel: string): string => {
    const query = new URLSearchParams(url.search);
    query.set("page", String(to));
    query.sort();
    return `<${HERE}${url.pathname}?${query}>; rel="${rel}"`;
  };
  const at = Math.min(page, last);
  return [
    ...(at < last ? [link(at + 1, "next"), link(last, "last")] : []),
    ...(page > 1 && last > 1 ? [link(1, "first"), link(at - 1, "prev")] : []),
  ].join(",");
}
