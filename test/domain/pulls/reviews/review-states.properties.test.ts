import { asc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { reviews } from "../../../../src/db/schema/index.ts";
import { call } from "../../../support/call.ts";
import { db } from "../../../support/db.ts";
import { make, type TestUser } from "../../../support/make.ts";
import { makePull } from "../../../support/pulls.ts";

type State = "pending" | "approved" | "request_changes" | "comment" | "request_review";

/**
 * A review in the model, which follows the documented rules and not the statements.
 */
interface Modelled {
  readonly by: number;
  state: State;
  isOfficial: boolean;
  isDismissed: boolean;
}

/** What happens to the reviews of one pull request: 0 may write the code, 1 may not. */
class Model {
  list: Modelled[] = [];

  private votesOf(by: number): Modelled[] {
    return this.list.filter(
      (each) => each.by === by && (each.state === "approved" || each.state === "request_changes"),
    );
  }

  review(by: number, state: State): void {
    const pending = this.list.find((each) => each.by === by && each.state === "pending");
    const votes = this.votesOf(by);
    const one = pending ?? { by, state, isOfficial: false, isDismissed: false };
    if (!pending) this.list.push(one);
    one.state = state;
    if (state === "pending") return;
    this.list = this.list.filter((each) => each.by !== by || each.state !== "request_review");
    if (state === "comment") return;
    for (const vote of votes) {
      vote.isOfficial = false;
      vote.isDismissed = true;
    }
    one.isOfficial = by === 0;
  }

  request(by: number): void {
    if (this.list.some((each) => each.by === by && each.state === "request_review")) return;
    if (by === 0) for (const vote of this.votesOf(by)) vote.isOfficial = false;
    this.list.push({ by, state: "request_review", isOfficial: by === 0, isDismissed: false });
  }

  takeBack(by: number): void {
    const request = this.list.find((each) => each.by === by && each.state === "request_review");
    if (!request) return;
    this.list = this.list.filter((each) => each !== request);
    if (request.isOfficial) this.restore(by);
  }

  dismiss(at: number, isDismissed: boolean): void {
    const one = this.list[at];
    if (one && this.votesOf(one.by).includes(one)) one.isDismissed = isDismissed;
  }

  remove(at: number): void {
    const one = this.list[at];
    if (!one || one.state === "request_review") return;
    this.list = this.list.filter((each) => each !== one);
    if (one.isOfficial) this.restore(one.by);
  }

  private restore(by: number): void {
    const last = this.votesOf(by).findLast(({ isDismissed }) => !isDismissed);
    if (last) last.isOfficial = true;
  }
}

/** Numbers from a seed, so that a failure is repeated. */
function* randomNumbers(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state >>> 8;
  }
}

const EVENTS = ["APPROVED", "REQUEST_CHANGES", "COMMENT", "PENDING"] as const;
const STATES: Record<(typeof EVENTS)[number], State> = {
  APPROVED: "approved",
  REQUEST_CHANGES: "request_changes",
  COMMENT: "comment",
  PENDING: "pending",
};
const STEPS = 25;

describe("the states of reviews", () => {
  it.each([1, 2, 3, 4])("are those of a model, in a random order (seed %i)", async (seed) => {
    const owner = await make.user();
    const reviewers: TestUser[] = [await make.user(), await make.user()];
    const repo = await make.repo(owner);
    await make.collaborator(repo, reviewers[0] as TestUser, 2);
    const pull = await makePull(repo);
    const path = `/repos/${repo.owner}/${repo.name}/pulls/${pull.number}`;
    const rows = () =>
      db.select().from(reviews).where(eq(reviews.issueId, pull.id)).orderBy(asc(reviews.id));
    const model = new Model();
    const numbers = randomNumbers(seed);
    const below = (max: number): number => numbers.next().value % max;
    const steps: string[] = [];
    for (let step = 0; step < STEPS; step++) {
      const by = below(2);
      const as = reviewers[by] as TestUser;
      const stored = await rows();
      const at = stored.length === 0 ? 0 : below(stored.length);
      const one = stored[at];
      const kind = below(6);
      if (kind <= 1) {
        const event = EVENTS[below(EVENTS.length)] as (typeof EVENTS)[number];
        steps.push(`${by} ${event}`);
        await call("POST", `${path}/reviews`, { as, json: { event, body: "text" } });
        model.review(by, STATES[event]);
      } else if (kind === 2) {
        steps.push(`ask ${by}`);
        const json = { reviewers: [as.name] };
        await call("POST", `${path}/requested_reviewers`, { as: owner, json });
        model.request(by);
      } else if (kind === 3) {
        steps.push(`take back ${by}`);
        const json = { reviewers: [as.name] };
        await call("DELETE", `${path}/requested_reviewers`, { as: owner, json });
        model.takeBack(by);
      } else if (one && kind === 4) {
        const isDismissed = below(3) > 0;
        steps.push(`${isDismissed ? "dismiss" : "undismiss"} ${at}`);
        const verb = isDismissed ? "dismissals" : "undismissals";
        await call("POST", `${path}/reviews/${one.id}/${verb}`, { as: owner, json: {} });
        model.dismiss(at, isDismissed);
      } else if (one) {
        steps.push(`delete ${at}`);
        const author = reviewers.find(({ id }) => id === one.reviewerId) as TestUser;
        await call("DELETE", `${path}/reviews/${one.id}`, { as: author });
        model.remove(at);
      }
      const found = (await rows()).map(({ reviewerId, state, isOfficial, isDismissed }) => ({
        by: reviewers.findIndex(({ id }) => id === reviewerId),
        state,
        isOfficial,
        isDismissed,
      }));
      expect(found, steps.join(", ")).toEqual(model.list);
    }
  });
});
