import type { Issuable, Json } from "./gitlab-data.ts";

/** A list that is asked for. */
export interface Listing {
  readonly url: URL;
  readonly isMember: boolean;
}

const PAGE_SIZE = 20;
const PAGE_SIZE_MAX = 100;

/**
 * A page of a list, with the headers of pagination.
 *
 * @param countedMax Longer lists have no total and no last page.
 */
export function page(list: readonly unknown[], { url }: Listing, countedMax = Infinity) {
  const number = (name: string, otherwise: number) =>
    Math.max(1, Number(url.searchParams.get(name) ?? otherwise) || otherwise);
  const size = Math.min(number("per_page", PAGE_SIZE), PAGE_SIZE_MAX);
  const current = number("page", 1);
  const pageCount = Math.max(1, Math.ceil(list.length / size));
  const link = (rel: string, target: number): string => {
    const to = new URL(url);
    to.searchParams.set("page", `${target}`);
    to.searchParams.set("per_page", `${size}`);
    return `<${to.href}>; rel="${rel}"`;
  };
  const isCounted = list.length <= countedMax;
  const hasNext = current < pageCount;
  const links = [
    ...(current > 1 ? [link("prev", current - 1)] : []),
    ...(hasNext ? [link("next", current + 1)] : []),
    link("first", 1),
    ...(isCounted ? [link("last", pageCount)] : []),
  ];
  return {
    status: 200,
    body: list.slice((current - 1) * size, current * size),
    headers: {
      Link: links.join(", "),
      "X-Page": `${current}`,
      "X-Per-Page": `${size}`,
      "X-Prev-Page": current > 1 ? `${current - 1}` : "",
      "X-Next-Page": hasNext ? `${current + 1}` : "",
      ...(isCounted && { "X-Total": `${list.length}`, "X-Total-Pages": `${pageCount}` }),
    },
  };
}

/** GitLab's filters and orders, by the query of a request. */
export const select = {
  /** Those of groups only if asked for. */
  milestones(list: readonly Json[], { searchParams }: URL): Json[] {
    const isWhole = ["include_parent_milestones", "include_ancestors"].some(
      (name) => searchParams.get(name) === "true",
    );
    const own = list.filter((each) => isWhole || !("group_id" in each));
    return own.filter((each) =>
      isInTime(String(each["updated_at"]), searchParams.get("updated_after")),
    );
  },

  releases: (list: readonly Json[], { searchParams }: URL): Json[] =>
    ordered(list, searchParams, "released_at"),

  notes: (list: readonly Json[], { searchParams }: URL): Json[] =>
    ordered(list, searchParams, "created_at"),

  /** In a list, merge requests lack some of their fields. */
  issuables(list: readonly Issuable[], { searchParams }: URL): Json[] {
    const found = list.filter(
      (each) =>
        isInTime(each.created_at, searchParams.get("created_after")) &&
        isInTime(each.updated_at, searchParams.get("updated_after")),
    );
    const withDetails = searchParams.get("with_labels_details") === "true";
    return ordered(found, searchParams, "created_at").map((each) => {
      const listed: Json = Object.assign({}, each);
      delete listed["diff_refs"];
      if (!withDetails) listed["labels"] = select.names(each);
      return listed;
    });
  },

  names: ({ labels }: Issuable): unknown[] => labels.map(({ name }) => name),
};

const isInTime = (time: string, after: string | null): boolean =>
  after === null || Date.parse(time) >= Date.parse(after);

/** Newest first unless asked otherwise; by id at the same time. */
function ordered<T extends Json>(list: readonly T[], query: URLSearchParams, field: string): T[] {
  const by = query.get("order_by") ?? field;
  const sign = query.get("sort") === "asc" ? 1 : -1;
  const timeOf = (each: T): number => Date.parse(String(each[by]));
  return list.toSorted(
    (a, b) => sign * (timeOf(a) - timeOf(b) || Number(a["id"] ?? 0) - Number(b["id"] ?? 0)),
  );
}
