import { z } from "@hono/zod-openapi";

import type { NotificationStatus } from "../../db/schema/index.ts";
import {
  NOTIFICATION_STATUSES,
  NOTIFICATION_SUBJECTS,
  type NotificationFilter,
} from "../../domain/issues/notifications/notification-filter.ts";
import { malformed } from "../../lib/failure.ts";
import { Paging, queryFlag } from "../paging.ts";
import { queryWords } from "../query-words.ts";

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;
const RULE = "must be a time in RFC 3339, such as 2026-01-31T08:15:00Z";
const SECOND_MS = 1000;

const isMoment = (text: string): boolean => MOMENT.test(text) && !Number.isNaN(Date.parse(text));

/**
 * The first moment after a time, in milliseconds. A time without fractions means its whole second,
 * since threads show when they were updated to the second.
 */
const endOf = (text: string): number =>
  Date.parse(text) + (MOMENT.exec(text)?.[1] === undefined ? SECOND_MS : 1);

const timeQuery = (description: string) =>
  z
    .string()
    .refine((text) => text === "" || isMoment(text), RULE)
    .optional()
    .openapi({ type: "string", format: "date-time", description });

const StatusTypes = queryWords(
  NOTIFICATION_STATUSES,
  "Only notifications of these statuses; of all, if none of them is known",
);

export const ListQuery = Paging.extend({
  all: queryFlag("Whether to list notifications of all statuses"),
  "status-types": StatusTypes,
  "subject-type": queryWords(
    NOTIFICATION_SUBJECTS,
    "Only notifications about these; about everything, if none of them is known",
  ),
  since: timeQuery("Only notifications updated at or after this time"),
  before: timeQuery("Only notifications updated until this time"),
});

export const toStatusQuery = z
  .string()
  .optional()
  .transform(
    (text): NotificationStatus => NOTIFICATION_STATUSES.find((each) => each === text) ?? "read",
  )
  .openapi({
    type: "string",
    default: "read",
    description: "The new status: `unread`, `read` or `pinned`; anything else means `read`",
  });

export const MarkQuery = z.object({
  last_read_at: z.string().optional().openapi({
    type: "string",
    format: "date-time",
    description:
      "Notifications updated after this time keep their status; the time of the request, if missing",
  }),
  all: queryFlag("Whether to mark notifications of all statuses"),
  "status-types": StatusTypes,
  "to-status": toStatusQuery,
});

/** The user and the repository of the notifications of a request. */
type Of = Pick<NotificationFilter, "userId" | "repoId">;

export const toListFilter = (of: Of, query: z.infer<typeof ListQuery>): NotificationFilter => ({
  ...of,
  statuses: readStatuses(query, ["unread", "pinned"]),
  subjects:
    query["subject-type"].known.length > 0 ? query["subject-type"].known : NOTIFICATION_SUBJECTS,
  since: query.since ? Date.parse(query.since) : undefined,
  before: query.before ? endOf(query.before) : undefined,
});

/**
 * Which notifications a request marks.
 *
 * @throws Failure `malformed` for a time that is none.
 */
export function toMarkFilter(
  of: Of,
  query: z.infer<typeof MarkQuery>,
  now: number,
): NotificationFilter {
  const { last_read_at: readAt } = query;
  if (readAt && !isMoment(readAt)) throw malformed(`[last_read_at]: ${RULE}`);
  return {
    ...of,
    statuses: readStatuses(query, ["unread"]),
    subjects: NOTIFICATION_SUBJECTS,
    before: readAt ? endOf(readAt) : now + 1,
  };
}

function readStatuses(
  query: Pick<z.infer<typeof MarkQuery>, "all" | "status-types">,
  whenMissing: readonly NotificationStatus[],
): readonly NotificationStatus[] {
  const { isSent, known } = query["status-types"];
  if (query.all) return NOTIFICATION_STATUSES;
  if (!isSent) return whenMissing;
  return known.length > 0 ? known : NOTIFICATION_STATUSES;
}
