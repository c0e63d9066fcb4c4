import { z } from "zod";

import { boundedList } from "../../../lib/bounded.ts";
import { MERGE_STYLES } from "../../../db/schema/index.ts";
import type { ForeignItems, ForeignKind } from "../../../forges/forge.ts";
import { shortText } from "../../../forges/fields.ts";
import { assetPath } from "./export-files.ts";
import { EXPORT_PAGE_ITEMS } from "./export-page.ts";

/** Items of one file that are read: other writers of exports may put more into one. */
const ITEMS_MAX = 10 * EXPORT_PAGE_ITEMS;
/** Members of a list within an item. */
const LIST_MAX = 10_000;
/** Numbers of issues that are taken: the next one here is behind the highest. */
const NUMBER_MAX = 1_000_000_000;
/** The years 1 and 9999, in milliseconds. */
const TIME_MIN = -62_135_596_800_000;
const TIME_MAX = 253_402_300_799_999;

/** The code that stores a text limits its length. */
const text = z.string();
const id = z.string().regex(/^[\w.:-]{1,64}$/);
const time = z.int().min(TIME_MIN).max(TIME_MAX);
const timeOrNull = time.nullable();
const count = z.int().min(0);
const number = z.int().min(1).max(NUMBER_MAX);
const oid = z.string().regex(/^(?:[0-9a-f]{40})?$/);
const list = <T>(item: z.ZodType<T>) => boundedList(item, LIST_MAX);

const user = z.object({ id: count, name: shortText });
const reactions = list(z.object({ user, content: shortText }));

const issueFields = {
  foreignId: id,
  number,
  poster: user,
  title: text,
  body: text,
  ref: shortText,
  labelIds: list(id),
  milestoneId: id.nullable(),
  assignees: list(user),
  reactions,
  isLocked: z.boolean(),
  isClosed: z.boolean(),
  closedAt: timeOrNull,
  deadlineAt: timeOrNull,
  createdAt: time,
  updatedAt: time,
  pinOrder: count.max(LIST_MAX).optional(),
  timeEstimateSeconds: count.optional(),
};
const branch = z.object({ branch: shortText, oid, repository: shortText });

const codeComment = z.object({
  foreignId: id,
  answersId: id.or(z.literal("")),
  poster: user,
  body: text,
  path: shortText,
  line: count,
  isOnOldSide: z.boolean(),
  commitOid: oid,
  hunk: text,
  isResolved: z.boolean(),
  reactions,
  createdAt: time,
  updatedAt: time,
  place: z
    .object({
      isOutdated: z.boolean(),
      startLine: count,
      originalLine: count,
      originalCommitOid: oid,
      resolvedAt: timeOrNull,
    })
    .optional(),
});

const asset = z
  .object({
    foreignId: id,
    name: shortText,
    sizeBytes: count.nullable(),
    downloadCount: count,
    createdAt: time,
    url: shortText,
  })
  // SECURITY: each file is taken once. A small archive could otherwise fill the bucket by naming
  // one file very often.
  .refine(({ foreignId, url }) => url === assetPath(foreignId), "the url is not that of the file");

/**
 * One item of each kind. SECURITY: anybody may have written the file: types, ids, numbers and times
 * are checked here.
 */
const ITEMS: { readonly [K in ForeignKind]: z.ZodType<ForeignItems[K]> } = {
  labels: z.object({
    foreignId: id,
    name: shortText,
    color: shortText,
    description: text,
    isExclusive: z.boolean(),
    isArchived: z.boolean(),
  }),
  milestones: z.object({
    foreignId: id,
    title: shortText,
    description: text,
    deadlineAt: timeOrNull,
    isClosed: z.boolean(),
    closedAt: timeOrNull,
    createdAt: time,
    updatedAt: time,
  }),
  issues: z.object({ kind: z.literal("issue"), ...issueFields }),
  pulls: z.object({
    kind: z.literal("pull"),
    ...issueFields,
    head: branch,
    base: branch,
    headRef: z.string().regex(/^(?:refs\/pull\/[1-9][0-9]{0,9}\/head)?$/),
    mergeBaseOid: oid,
    allowMaintainerEdit: z.boolean(),
    mergedAt: timeOrNull,
    merger: user.nullable(),
    mergeCommitOid: oid,
    mergeKind: z.enum([...MERGE_STYLES, "manually-merged"]).optional(),
  }),
  comments: z.object({
    kind: z.literal("comment"),
    foreignId: id,
    number,
    poster: user,
    body: text,
    reactions,
    createdAt: time,
    updatedAt: time,
  }),
  reviews: z.object({
    foreignId: id,
    number,
    reviewer: user,
    state: z.enum(["approved", "request_changes", "comment", "request_review"]),
    isDismissed: z.boolean(),
    isOfficial: z.boolean(),
    body: text,
    commitOid: oid,
    createdAt: time,
    updatedAt: time.optional(),
    comments: list(codeComment),
  }),
  releases: z.object({
    foreignId: id,
    tagName: shortText,
    target: shortText,
    title: shortText,
    body: text,
    isDraft: z.boolean(),
    isPrerelease: z.boolean(),
    publisher: user,
    createdAt: time,
    publishedAt: timeOrNull.optional(),
    assets: list(asset),
  }),
};

/** The items of one file of an export, of which no two have the same number. */
export const exportItems = <K extends ForeignKind>(kind: K): z.ZodType<ForeignItems[K][]> => {
  const items: z.ZodType<ForeignItems[K][]> = boundedList(ITEMS[kind], ITEMS_MAX);
  if (kind !== "issues" && kind !== "pulls") return items;
  const numbersOf = (found: readonly object[]) =>
    found.map((item) => ("number" in item ? item.number : undefined));
  return items.refine(
    (found) => new Set(numbersOf(found)).size === found.length,
    "two items have the same number",
  );
};
