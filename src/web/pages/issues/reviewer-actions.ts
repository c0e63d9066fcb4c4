import { sql } from "drizzle-orm";

import { loadRules } from "../../../domain/code/protections/select-rules.ts";
import { dismissReview } from "../../../domain/pulls/reviews/dismiss-review.ts";
import { loadNames, type ReviewerNames } from "../../../domain/pulls/reviews/find-reviewers.ts";
import { findReview } from "../../../domain/pulls/reviews/find-review.ts";
import { removeRequests, requestReviews } from "../../../domain/pulls/reviews/request-reviews.ts";
import { Failure, invalidField } from "../../../lib/failure.ts";
import type { Form } from "../form.ts";
import { readId } from "../read-id.ts";
import type { Action } from "./action.ts";
import { onPull } from "./on-pull.ts";
import { readUsers } from "./properties.tsx";
import { readTeams } from "./team-choices.tsx";

/** Characters of names and reasons. */
const LINE_CHARS_MAX = 255;

/** @throws Failure `invalid` for a form that names nobody. */
function readReviewers(form: Form): Required<ReviewerNames> {
  const names = { users: readUsers(form, "user-", "other"), teams: readTeams(form) };
  if (names.users.length + names.teams.length === 0) {
    throw invalidField("other", "must name somebody");
  }
  return names;
}

const change = (verb: typeof requestReviews | typeof removeRequests): Action =>
  onPull(async (pull, { ctx, repo, form }) => {
    const names = readReviewers(form);
    const posterId = sql`${pull.row.posterId}`;
    const [rules, loaded] = await Promise.all([
      loadRules(ctx, repo),
      loadNames(ctx, repo, posterId, names),
    ]);
    try {
      await verb(ctx, { ...pull, repo: { ...pull.repo, rules } }, names, loaded);
    } catch (error) {
      // Of the names, those that the form does not offer are typed.
      if (!(error instanceof Failure && error.kind === "not_found")) throw error;
      throw invalidField("other", "must name somebody who may review this");
    }
  });

/** What the forms about the reviewers of a pull request do. */
export const REVIEWER_ACTIONS = {
  "request-reviews": change(requestReviews),
  "withdraw-requests": change(removeRequests),
  "dismiss-review": onPull(async (pull, { ctx, repo, number, form }) => {
    const review = await findReview(ctx, repo, number, readId(form.text("review")));
    const message = form.line("message", LINE_CHARS_MAX);
    await dismissReview(ctx, pull, review, { message, includesPriors: false });
  }),
} as const satisfies Record<string, Action>;
