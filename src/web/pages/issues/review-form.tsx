import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import { ActionForm, type Sending } from "./action-form.tsx";
import { mayTakePart } from "./issue-head.tsx";
import { TextField } from "../text-field.tsx";
import type { EnteredRepository } from "../repository/enter.ts";

interface ReviewFormProps {
  page: EnteredRepository;
  pull: PullContext;
  sending: Sending;
}

/** The form by which a reader reviews an open pull request as a whole. */
export function ReviewForm({ page, pull, sending }: ReviewFormProps) {
  const { user } = page.ctx.actor;
  if (pull.row.isClosed || !mayTakePart(page, pull)) return <></>;
  const isOwn = pull.row.posterId === user?.id;
  return (
    <ActionForm {...sending} action="review" class="card">
      <h2>Review</h2>
      <input type="hidden" name="head" value={pull.pull.headOid} />
      <TextField
        repo={page.repo}
        label="What do you think of the changes?"
        name="body"
        id="review-body"
        value=""
      />
      <div class="row">
        <button type="submit" name="state" value="comment">
          Comment
        </button>
        {isOwn ? undefined : (
          <>
            <button type="submit" name="state" value="approved" class="primary">
              Approve
            </button>
            <button type="submit" name="state" value="request_changes" class="danger">
              Request changes
            </button>
          </>
        )}
      </div>
    </ActionForm>
  );
}
