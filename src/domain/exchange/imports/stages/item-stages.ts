import type { BatchItem } from "drizzle-orm/batch";

import type { ProjectPart } from "../../../../db/schema/index.ts";
import type { ForeignItems, ForeignKind } from "../../../../forges/forge.ts";
import { commentStatements, toCommentRow } from "../write/comments.ts";
import { issueStatements, takenNumbers, toIssueRow } from "../write/issues.ts";
import { takeLabels, takeMilestones, toLabelRow, toMilestoneRow } from "../write/labels.ts";
import { inParts, settleItems, withoutRepeats, withoutSharedNumbers } from "../write/page.ts";
import { releaseStatements, toReleaseRow } from "../write/releases.ts";
import {
  codeCommentStatements,
  reviewStatements,
  toCodeRows,
  toReviewRows,
} from "../write/reviews.ts";
import {
  commentUpdates,
  issueUpdates,
  labelUpdates,
  milestoneUpdates,
  releaseUpdates,
} from "../write/update-items.ts";
import type { ImportJob } from "../import-job.ts";

type Statements = BatchItem<"sqlite">[];

/**
 * How the items of a kind are taken: the statements for a page, in the order in which they are
 * written.
 */
type Take<K extends ForeignKind> = (
  job: ImportJob,
  items: readonly ForeignItems[K][],
) => Statements[] | Promise<Statements[]>;

/** Reads the next page of a kind, if the import includes it, and writes it. */
const stageOf =
  <K extends ForeignKind>(
    kind: K,
    isIncluded: (job: ImportJob) => boolean,
    take: Take<K>,
  ): ((job: ImportJob) => Promise<void>) =>
  async (job) => {
    const { reader } = job.source;
    if (!reader || !isIncluded(job)) {
      await job.commit(job.nextStage());
      return;
    }
    const { since } = job.row.options;
    const page = await reader.readPage(kind, job.row.cursor ?? undefined, {
      includesIssues: job.includes("issues"),
      includesPulls: job.includes("pulls"),
      ...(since !== undefined && { since }),
    });
    for (const sentence of page.leftOut ?? []) job.note(sentence);
    const parts = await take(job, page.items);
    // Where the import goes on is stored with the last part: all of them may be repeated.
    for (const part of parts.slice(0, -1)) await job.commit({}, { items: part });
    const progress = job.counted(page.items.length, page.total);
    const at = page.next === undefined ? job.nextStage() : { cursor: page.next };
    await job.commit({ ...at, progress }, { items: parts.at(-1) ?? [] });
  };

const includes =
  (part: ProjectPart) =>
  (job: ImportJob): boolean =>
    job.includes(part);

export const importLabels = stageOf("labels", includes("labels"), (job, items) =>
  inParts(items.map((item) => toLabelRow(job, item))).map((part) =>
    [labelUpdates(job, part), takeLabels(job, part)].flat(),
  ),
);

export const importMilestones = stageOf("milestones", includes("milestones"), (job, items) =>
  inParts(items.map((item) => toMilestoneRow(job, item))).map((part) =>
    [milestoneUpdates(job, part), takeMilestones(job, part)].flat(),
  ),
);

export const importIssues = stageOf("issues", includes("issues"), async (job, items) => {
  const all = withoutRepeats(items.map((item) => toIssueRow(job, item)));
  const rows = withoutSharedNumbers(job, all);
  const taken = await takenNumbers(job, rows);
  for (const { number } of taken) {
    job.note(`issue ${number} was left out: the repository has another one with this number`);
  }
  return inParts(rows).map((part) =>
    [issueUpdates(job, part), issueStatements(job, part), settleItems(job, "issue", part)].flat(),
  );
});

export const importComments = stageOf(
  "comments",
  (job) => job.includes("issues") || job.includes("pulls"),
  (job, items) =>
    inParts(items.map((item) => toCommentRow(job, item))).map((part) =>
      [commentUpdates(job, part), commentStatements(job, part)].flat(),
    ),
);

export const importReviews = stageOf("reviews", includes("pulls"), (job, items) => {
  const reviews = inParts(toReviewRows(job, items)).map((part) => reviewStatements(job, part));
  const code = inParts(toCodeRows(job, items)).map((part) => codeCommentStatements(job, part));
  return [...reviews, ...code];
});

export const importReleases = stageOf("releases", includes("releases"), (job, items) =>
  inParts(items.map((item) => toReleaseRow(job, item))).map((part) =>
    [releaseUpdates(job, part), releaseStatements(job, part)].flat(),
  ),
);
