import type { Context } from "hono";

import type { RepositoryQuery } from "../../domain/repos/repository/repository-query.ts";

/** The orders of repositories, by the names that addresses of Gitea have. */
const ORDERS = {
  recentupdate: { label: "Recently changed", sort: "updated", isDescending: true },
  leastupdate: { label: "Least recently changed", sort: "updated", isDescending: false },
  newest: { label: "Newest", sort: "created", isDescending: true },
  oldest: { label: "Oldest", sort: "created", isDescending: false },
  alphabetically: { label: "Name", sort: "alpha", isDescending: false },
  reversealphabetically: { label: "Name, reversed", sort: "alpha", isDescending: true },
  moststars: { label: "Most stars", sort: "stars", isDescending: true },
  feweststars: { label: "Fewest stars", sort: "stars", isDescending: false },
  mostforks: { label: "Most forks", sort: "forks", isDescending: true },
  fewestforks: { label: "Fewest forks", sort: "forks", isDescending: false },
  size: { label: "Smallest", sort: "size", isDescending: false },
  reversesize: { label: "Largest", sort: "size", isDescending: true },
} as const satisfies Record<
  string,
  { label: string } & Pick<RepositoryQuery, "sort" | "isDescending">
>;

type Order = keyof typeof ORDERS;

const isOrder = (text: string): text is Order => Object.hasOwn(ORDERS, text);

/** The order that the query names by `sort`; the last changed ones first if it names none. */
export function readRepositoryOrder(
  c: Context,
): { order: Order } & Pick<RepositoryQuery, "sort" | "isDescending"> {
  const requested = c.req.query("sort") ?? "";
  const order = isOrder(requested) ? requested : "recentupdate";
  const { sort, isDescending } = ORDERS[order];
  return { order, sort, isDescending };
}

export function RepositoryOrderField({ order }: { order: Order }) {
  return (
    <span class="pair">
      <label for="sort">Order</label>
      <select id="sort" name="sort">
        {Object.entries(ORDERS).map(([name, { label }]) => (
          <option value={name} selected={name === order}>
            {label}
          </option>
        ))}
      </select>
    </span>
  );
}
