import type { Review } from "../../../db/schema/index.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { EnteredRepository } from "../repository/enter.ts";
import { TextField } from "../text-field.tsx";
import { ActionForm, type Sending } from "./action-form.tsx";
import { mayTakePart, type Refused } from "./issue-head.tsx";

interface ReviewFormProps {
  page: EnteredRepository;
  pull: PullContext;
  sending: Sending;
  /** The reader's review that is not submitted. */
  pending: Review | undefined;
  refused: Refused | undefined;
}

/** The place of the form that reviews a pull request as a whole. */
export const REVIEW_ID = "review";

/** The number of comments in words. */
export const countComments = (count: number): string =>
  `${count} pending comment${count === 1 ? "" : "s"}`;

/** Whether the reader may review a pull request as a whole. */
export const mayReview = (
  page: EnteredRepository,
  pull: PullContext,
  pending: Review | undefined,
): boolean => mayTakePart(page, pull) && (!pull.row.isClosed || pending !== undefined);

/**
 * The form by which a reader reviews a pull request as a whole, with their pending comments; one
 * that is closed takes comments only.
 */
export function ReviewForm({ page, pull, sending, pending, refused }: ReviewFormProps) {
  const { user } = page.ctx.actor;
  if (!mayReview(page, pull, pending)) return <></>;
  const mayVote = pull.row.posterId !== user?.id && !pull.row.isClosed;
  const isRefused = refused?.form.text("action") === "review";
  return (
    <section class="card" id={REVIEW_ID} aria-label="Review">
      <ActionForm {...sending} action="review">
        <h2>
          {pending ? `Finish your review with ${countComments(pending.commentCount)}` : "Review"}
        </h2>
        <input type="hidden" name="head" value={pull.pull.headOid} />
        <input type="hidden" name="opened_at" value={page.ctx.now} />
        <TextField
          repo={page.repo}
          label="What do you think of the changes?"
          name="body"
          id="review-body"
          value={isRefused ? refused.form.text("body") : (pending?.body ?? "")}
          fault={isRefused ? refused.refusal.fault : undefined}
          hasFiles={page.ctx.config.areAttachmentsOn}
        />
        <div class="row">
          <button type="submit" name="state" value="comment">
            Comment
          </button>
          {mayVote ? (
            <>
              <button type="submit" name="state" value="approved" class="primary">
                Approve
              </button>
              <button type="submit" name="state" value="request_changes" class="danger">
                Request changes
              </button>
            </>
          ) : undefined}
        </div>
      </ActionForm>
      {pending ? (
        <details class="menu">
          <summary>Discard the review</summary>
          <div class="menu-body">
            <p>{`Your ${countComments(pending.commentCount)} are gone for good.`}</p>
            <ActionForm {...sending} action="discard-review">
              <button type="submit" class="danger">
                Discard
              </button>
            </ActionForm>
          </div>
        </details>
      ) : undefined}
    </section>
  );
}
