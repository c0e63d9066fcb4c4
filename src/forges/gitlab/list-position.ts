import { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { RemoteFailure } from "../../outgoing/remote-failure.ts";
import type { ForeignFilter } from "../forge.ts";
import type { Requests } from "./requests.ts";
import { Id } from "./shapes.ts";

/**
 * Where a list of issues or merge requests goes on: behind the items created before a time, and
 * behind some that were created in the same millisecond.
 *
 * Pages by number alone would pass over an item when an earlier one is deleted meanwhile, become
 * slow far from the start, and end at GitLab's largest offset of 50,000 items.
 *
 * @see
 *   https://docs.gitlab.com/administration/instance_limits/#max-offset-allowed-by-the-rest-api-for-offset-based-pagination
 */
export const ListPosition = z.object({
  /** In milliseconds; null at the start of the list. */
  createdAt: z.int().nullable(),
  /**
   * The page, from 1, of the items from this time on: above 1 if they fill more than a page within
   * a millisecond.
   */
  page: z.int().positive(),
  doneIds: z.array(Id),
});
export type ListPosition = z.infer<typeof ListPosition>;

export const LIST_START: ListPosition = { createdAt: null, page: 1, doneIds: [] };

interface Listed {
  readonly id: number;
  /** In milliseconds. */
  readonly created_at: number;
}

/** The items at a position. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
  /** The number of items in the list. GitLab states it only at the start, and up to 10,000. */
  readonly total: number | undefined;
}

/**
 * Lists issues or merge requests in the order of their creation.
 *
 * @throws RemoteFailure `protocol` if they come in another order.
 */
export async function listFrom<T extends Listed>(
  requests: Requests,
  path: string,
  shape: z.ZodType<T>,
  position: ListPosition,
  { size, since }: { size: number; since: ForeignFilter["since"] },
): Promise<ListPage<T>> {
  const { value, total, next } = await requests.get(path, boundedList(shape, 100), {
    scope: "all",
    state: "all",
    order_by: "created_at",
    sort: "asc",
    with_labels_details: true,
    per_page: size,
    page: position.page,
    created_after: position.createdAt === null ? undefined : formatTime(position.createdAt),
    updated_after: since === undefined ? undefined : formatTime(since),
  });
  let last = position.createdAt ?? 0;
  for (const { created_at: createdAt } of value) {
    // Otherwise a server that orders as it likes could be read without end.
    if (createdAt < last) throw new RemoteFailure("protocol", `${path} is not in order`);
    last = createdAt;
  }
  return {
    items: value.filter(({ id }) => !position.doneIds.includes(id)),
    hasMore: next !== undefined,
    total: position.createdAt === null ? total : undefined,
  };
}

/**
 * @returns The position behind the first `count` items of a page; undefined behind the last item of
 *   the list.
 */
export function positionAfter<T extends Listed>(
  position: ListPosition,
  { items, hasMore }: ListPage<T>,
  count: number,
): ListPosition | undefined {
  const isWhole = count === items.length;
  if (isWhole && !hasMore) return undefined;
  const taken = items.slice(0, count);
  const createdAt = taken.at(-1)?.created_at ?? position.createdAt;
  const ids = taken.filter((item) => item.created_at === createdAt).map(({ id }) => id);
  if (createdAt !== position.createdAt) return { createdAt, page: 1, doneIds: ids };
  return isWhole
    ? { createdAt, page: position.page + 1, doneIds: [] }
    : { ...position, doneIds: [...position.doneIds, ...ids] };
}

/** To the millisecond, as GitLab writes the times that it compares with. */
const formatTime = (milliseconds: number): string => new Date(milliseconds).toISOString();
