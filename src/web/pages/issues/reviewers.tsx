import { isAllowed } from "../../../auth/access/permission.ts";
import type { ReviewState } from "../../../db/schema/index.ts";
import type { PossibleReviewers } from "../../../domain/pulls/reviews/list-possible-reviewers.ts";
import { isVoting } from "../../../domain/pulls/reviews/review-states.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { ReviewContext } from "../../../shapes/pulls/pull-review.ts";
import { accountPath, issuePath } from "../addresses.ts";
import { Avatar } from "../avatar.tsx";
import { Field } from "../layout.tsx";
import type { Page } from "../open-page.ts";
import { ActionForm, type Sending } from "./action-form.tsx";
import { TEAM, TeamChoices } from "./team-choices.tsx";

interface ReviewersProps {
  page: Page;
  pull: PullContext;
  /** What each reviewer says. */
  reviews: readonly ReviewContext[];
  /** Whom the reader may ask; undefined for a reader who asks nobody. */
  choices: PossibleReviewers | undefined;
}

/** What a reviewer says, by the state of the review. */
const STATE_WORDS: Readonly<Record<ReviewState, string>> = {
  approved: "approved",
  request_changes: "requested changes",
  comment: "commented",
  request_review: "is asked",
  pending: "",
};

/** Who reviews a pull request and what they say, with the forms that ask them. */
export function Reviewers(props: ReviewersProps) {
  const { page, pull, reviews, choices } = props;
  const sending = { path: issuePath(pull), formToken: page.formToken };
  const mayAsk = choices !== undefined && !pull.row.isClosed;
  return (
    <section class="side-part">
      <div class="row">
        <h2 class="grow">Reviewers</h2>
        {mayAsk ? (
          <details class="menu end">
            <summary>
              Edit<span class="hidden"> reviewers</span>
            </summary>
            <div class="menu-body">
              <AskForm {...props} sending={sending} choices={choices} />
            </div>
          </details>
        ) : undefined}
      </div>
      {reviews.length === 0 ? <span class="soft">None</span> : undefined}
      <ul class="plain-list">
        {reviews.map((review) => (
          <Reviewer {...props} review={review} sending={sending} mayAsk={mayAsk} />
        ))}
      </ul>
    </section>
  );
}

type ReviewerProps = ReviewersProps & { sending: Sending };

interface AskFormProps extends Omit<ReviewerProps, "choices"> {
  choices: PossibleReviewers;
}

function AskForm({ pull, reviews, choices, sending }: AskFormProps) {
  const requests = reviews.filter(({ row }) => row.state === "request_review");
  const asked = new Set(requests.map(({ row }) => row.reviewerId));
  const askedTeams = new Set(requests.map(({ row }) => row.teamId));
  const others = choices.users.filter(({ id }) => id !== pull.row.posterId && !asked.has(id));
  const teams = choices.teams.filter(({ id }) => !askedTeams.has(id));
  return (
    <ActionForm {...sending} action="request-reviews">
      {others.map((user) => (
        <label class="check">
          <input type="checkbox" name={`user-${user.name}`} value="on" />
          <span>
            <Avatar account={user} size={20} />
            {user.name}
          </span>
        </label>
      ))}
      <Field label="Somebody else" name="other" id="other-reviewer" maxlength={255} isOptional />
      <TeamChoices teams={teams} hasMore={choices.hasMoreTeams} isChosen={() => false} />
      <button type="submit" class="small primary">
        Ask for a review
      </button>
    </ActionForm>
  );
}

function Reviewer(props: ReviewerProps & { review: ReviewContext; mayAsk: boolean }) {
  const { page, pull, review, sending, mayAsk } = props;
  const { row, reviewer, team } = review;
  const { user } = page.ctx.actor;
  const name = team?.name ?? reviewer?.name ?? (row.originalAuthor || "Ghost");
  const isAsked = row.state === "request_review";
  const words = isAsked && row.isOfOwner ? "is asked as an owner of code" : STATE_WORDS[row.state];
  const isOwn = reviewer !== undefined && reviewer.id === user?.id;
  const named = { [team ? TEAM + team.name : `user-${reviewer?.name ?? ""}`]: "on" };
  const isKnown = team !== undefined || reviewer !== undefined;
  const isOpen = !pull.row.isClosed && pull.repo.row.archivedAt === null;
  return (
    <li>
      {reviewer ? <Avatar account={reviewer} size={20} /> : undefined}{" "}
      {reviewer && !team ? <a href={accountPath(reviewer)}>{name}</a> : name}{" "}
      {review.entryId === undefined ? (
        <span class="soft">{words}</span>
      ) : (
        <a
          class="soft"
          href={`${sending.path}?entry=${review.entryId}#issuecomment-${review.entryId}`}
        >
          {words}
        </a>
      )}{" "}
      {row.isDismissed ? <span class="label">Dismissed</span> : undefined}
      {row.isStale && !row.isDismissed ? <span class="label">Stale</span> : undefined}
      {isAsked && isOpen && (mayAsk || isOwn) ? (
        <NamedForm
          sending={sending}
          action="withdraw-requests"
          fields={named}
          label="Withdraw"
          of={name}
        />
      ) : undefined}
      {!isAsked && isKnown && isOpen && mayAsk && reviewer?.id !== pull.row.posterId ? (
        <NamedForm
          sending={sending}
          action="request-reviews"
          fields={named}
          label="Ask again"
          of={name}
        />
      ) : undefined}
      {isVoting(row) && !row.isDismissed && isOpen && isAllowed(pull.repo, { mode: "admin" }) ? (
        <details class="menu end">
          <summary>
            Dismiss<span class="hidden">{` the review of ${name}`}</span>
          </summary>
          <div class="menu-body">
            <ActionForm {...sending} action="dismiss-review">
              <input type="hidden" name="review" value={row.id} />
              <Field
                label="Reason"
                name="message"
                id={`dismiss-${row.id}`}
                maxlength={255}
                isOptional
              />
              <button type="submit" class="small danger">
                Dismiss the review
              </button>
            </ActionForm>
          </div>
        </details>
      ) : undefined}
    </li>
  );
}

interface NamedFormProps {
  sending: Sending;
  action: "request-reviews" | "withdraw-requests";
  fields: Readonly<Record<string, string>>;
  label: string;
  of: string;
}

/** A button for one reviewer. */
function NamedForm({ sending, action, fields, label, of: name }: NamedFormProps) {
  return (
    <ActionForm {...sending} action={action} class="inline">
      {Object.entries(fields).map(([field, value]) => (
        <input type="hidden" name={field} value={value} />
      ))}
      <button type="submit" class="plain">
        {label}
        <span class="hidden">{` ${name}`}</span>
      </button>
    </ActionForm>
  );
}
