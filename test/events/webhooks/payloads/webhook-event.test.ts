import { describe, expect, it } from "vitest";

import type { Event } from "../../../../src/events/event.ts";
import {
  hasWebhookEvents,
  listWebhookEvents,
} from "../../../../src/events/webhooks/payloads/webhook-event.ts";
import type {
  CommentPayload,
  IssuePayload,
} from "../../../../src/shapes/webhooks/issue-payloads.ts";
import {
  DELIVERED_EVENTS,
  familyOf,
  HOOK_EVENTS,
  subscriptionOf,
} from "../../../../src/events/webhooks/payloads/hook-event.ts";
import type { PullPayload } from "../../../../src/shapes/webhooks/pull-payload.ts";
import { oidOf } from "../../../support/payload-contexts.ts";

const push = (ref: string, before: string | null, after: string | null): Event => ({
  type: "repository.pushed",
  repoId: 7,
  ownerId: 1,
  pushId: "p",
  part: 0,
  refCount: 1,
  updates: [{ ref, before, after }],
});
const namesOf = (event: Event): string[] => listWebhookEvents(event).map((each) => each.event);

describe("listWebhookEvents", () => {
  it.each([
    ["a new branch", "refs/heads/x", null, oidOf(1), ["create", "push"]],
    ["an updated branch", "refs/heads/x", oidOf(1), oidOf(2), ["push"]],
    ["a deleted branch", "refs/heads/x", oidOf(1), null, ["delete"]],
    ["a new tag", "refs/tags/x", null, oidOf(1), ["push", "create"]],
    ["an updated tag", "refs/tags/x", oidOf(1), oidOf(2), ["push"]],
    ["a deleted tag", "refs/tags/x", oidOf(1), null, ["push", "delete"]],
    ["another ref", "refs/notes/commits", null, oidOf(1), []],
  ])("lists the events of %s, in order", (_, ref, before, after, names) => {
    expect(namesOf(push(ref, before, after))).toEqual(names);
  });

  it("lists a fork for its source, and a created repository for the fork", () => {
    const event: Event = { type: "repository.forked", repoId: 8, ownerId: 2, parentId: 7 };
    expect(listWebhookEvents(event)).toEqual([
      { event: "fork", repoId: 7, forkId: 8 },
      { event: "repository", repoId: 8, action: "created" },
    ]);
  });

  describe("of an issue", () => {
    const issue = { repoId: 7, ownerId: 1, issueId: 3, number: 2, isPull: false };
    const changes: [name: string, action: string, event: Event][] = [
      ["issues", "opened", { ...issue, type: "issue.opened" }],
      ["issues", "closed", { ...issue, type: "issue.closed", commitOid: "" }],
      ["issues", "reopened", { ...issue, type: "issue.reopened", commitOid: oidOf(1) }],
      ["issues", "edited", { ...issue, type: "issue.edited", from: { title: "a" } }],
      ["issue_assign", "assigned", { ...issue, type: "issue.assigned", userId: 4 }],
      ["issue_assign", "unassigned", { ...issue, type: "issue.unassigned", userId: 4 }],
      ["issue_label", "label_updated", { ...issue, type: "issue.labeled", added: [], removed: [] }],
      ["issue_label", "label_cleared", { ...issue, type: "issue.labels_cleared" }],
      ["issue_milestone", "milestoned", { ...issue, type: "issue.milestoned", milestoneId: 5 }],
      ["issue_milestone", "demilestoned", { ...issue, type: "issue.demilestoned", milestoneId: 5 }],
      ["issue_comment", "created", { ...issue, type: "comment.created", commentId: 6 }],
      ["issue_comment", "edited", { ...issue, type: "comment.edited", commentId: 6, from: "a" }],
    ];

    it.each(changes)("lists %s %s", (event, action, change) => {
      expect(hasWebhookEvents(change.type)).toBe(true);
      expect(listWebhookEvents(change)).toMatchObject([{ event, action, repoId: 7, issueId: 3 }]);
    });

    it("names the commit that closed or reopened it, and is empty without one", () => {
      const commitOids = changes
        .filter(([event]) => event !== "issue_comment")
        .flatMap(([, , change]) => listWebhookEvents(change))
        .map((each) => "commitOid" in each && each.commitOid);
      expect(commitOids).toEqual(["", "", oidOf(1), "", "", "", "", "", "", ""]);
    });

    it("lists a deletion with its recorded payload", () => {
      const body = { action: "deleted" } as unknown as IssuePayload & CommentPayload;
      const gone = { ...issue, title: "t", lastPayload: body };
      expect([
        ...listWebhookEvents({ ...gone, type: "issue.deleted" }),
        ...listWebhookEvents({ ...gone, type: "comment.deleted", commentId: 6 }),
      ]).toEqual([
        { event: "issues", repoId: 7, action: "deleted", body },
        { event: "issue_comment", repoId: 7, action: "deleted", body },
      ]);
    });

    it("lists the same of a pull request, as events of its own", () => {
      for (const [event, action, change] of changes) {
        const ofPull = Object.assign({}, change, { isPull: true });
        const name = event.replace(/^issues?/, "pull_request");
        expect(listWebhookEvents(ofPull)).toEqual([
          { ...listWebhookEvents(change)[0], event: name, action },
        ]);
      }
    });

    it("lists the deletion of a pull request with its recorded payload", () => {
      const gone = { ...issue, isPull: true, title: "t" };
      const body = { action: "deleted", pull_request: {} } as unknown as PullPayload;
      const ofComment = { action: "deleted" } as unknown as CommentPayload;
      const deleted = { ...gone, commentId: 6, lastPayload: ofComment };
      expect([
        ...listWebhookEvents({ ...gone, type: "issue.deleted", lastPayload: body }),
        ...listWebhookEvents({ ...deleted, type: "comment.deleted" }),
      ]).toEqual([
        { event: "pull_request", repoId: 7, action: "deleted", body },
        { event: "pull_request_comment", repoId: 7, action: "deleted", body: ofComment },
      ]);
    });

    it("lists nothing for changes that hooks cannot subscribe to", () => {
      const others: Event[] = [
        { ...issue, type: "issue.locked" },
        { ...issue, type: "issue.unlocked" },
        { ...issue, type: "issue.pinned" },
        { ...issue, type: "issue.unpinned" },
        { ...issue, type: "issue.deadline_changed", deadlineAt: null },
      ];
      expect(others.flatMap(listWebhookEvents)).toEqual([]);
      expect(others.map(({ type }) => hasWebhookEvents(type))).not.toContain(true);
    });
  });

  describe("of a pull request", () => {
    const pull = { repoId: 7, ownerId: 1, issueId: 3, number: 2 };
    const moved = { before: oidOf(1), after: oidOf(2), isForced: false, commitCount: 1 };
    const merged = { mergeCommitOid: oidOf(1), mergeKind: "squash", isAutomatic: false } as const;
    const user = { userId: 4, teamId: null };
    const team = { userId: null, teamId: 4 };
    const review = { ...pull, type: "review.submitted", reviewId: 5 } as const;
    const changes: [name: string, action: string, event: Event, fields: object][] = [
      ["pull_request", "closed", { ...pull, ...merged, type: "pull.merged" }, { commitOid: "" }],
      ["pull_request_sync", "synchronized", { ...pull, ...moved, type: "pull.synchronized" }, {}],
      [
        "pull_request",
        "edited",
        { ...pull, type: "pull.retargeted", from: "main", to: "next" },
        { changes: { from: { ref: "main" }, added: [], removed: [] } },
      ],
      [
        "pull_request_review_request",
        "review_requested",
        { ...pull, ...user, type: "pull.review_requested" },
        { asked: user },
      ],
      [
        "pull_request_review_request",
        "review_request_removed",
        { ...pull, ...team, type: "pull.review_request_removed" },
        { asked: team },
      ],
      ["pull_request", "enqueued", { ...pull, type: "pull.enqueued", branch: "main" }, {}],
      [
        "pull_request",
        "dequeued",
        { ...pull, type: "pull.dequeued", branch: "main", reason: "conflict", detail: "" },
        { reason: "conflict" },
      ],
      ["pull_request_review_approved", "reviewed", { ...review, state: "approved" }, {}],
      ["pull_request_review_rejected", "reviewed", { ...review, state: "request_changes" }, {}],
      ["pull_request_review_comment", "reviewed", { ...review, state: "comment" }, {}],
    ];

    it.each(changes)("lists %s %s", (event, action, change, fields) => {
      expect(hasWebhookEvents(change.type)).toBe(true);
      expect(listWebhookEvents(change)).toMatchObject([
        { event, action, repoId: 7, issueId: 3, ...fields },
      ]);
    });

    it("lists nothing for changes that hooks cannot subscribe to", () => {
      const others: Event[] = [
        { ...pull, type: "pull.ready" },
        { ...pull, type: "pull.merge_scheduled" },
        { ...pull, type: "pull.merge_unscheduled" },
        { ...pull, type: "review.dismissed", reviewId: 5 },
        { ...pull, type: "review.undismissed", reviewId: 5 },
        { ...pull, type: "review.deleted", reviewId: 5 },
        { ...pull, type: "conversation.resolved", commentId: 6 },
        { ...pull, type: "conversation.reopened", commentId: 6 },
      ];
      expect(others.flatMap(listWebhookEvents)).toEqual([]);
      expect(others.map(({ type }) => hasWebhookEvents(type))).not.toContain(true);
    });
  });

  it("subscribes hooks to every event that is delivered", () => {
    const subscribed = new Set(DELIVERED_EVENTS.map(subscriptionOf));
    expect([...subscribed].toSorted()).toEqual([...HOOK_EVENTS]);
  });

  it("lists nothing for events that hooks cannot subscribe to", () => {
    const silent: Event[] = [
      { type: "star.created", repoId: 7, ownerId: 1 },
      { type: "watch.deleted", repoId: 7, ownerId: 1 },
      { type: "repository.renamed", repoId: 7, ownerId: 1, from: "a", to: "b" },
      { type: "repository.visibility_changed", repoId: 7, ownerId: 1, isPrivate: true },
      { type: "public_key.added", ownerId: 1, fingerprint: "f" },
      { type: "organization.member_added", ownerId: 1, userId: 2, teamId: 3 },
    ];
    expect(silent.flatMap(listWebhookEvents)).toEqual([]);
  });

  it("assigns every event to a family", () => {
    const families = new Set(DELIVERED_EVENTS.map(familyOf));
    expect([...families].toSorted()).toEqual([
      "create",
      "delete",
      "fork",
      "issue_comment",
      "issues",
      "package",
      "pull_request",
      "pull_request_approved",
      "pull_request_comment",
      "pull_request_rejected",
      "push",
      "release",
      "repository",
      "status",
      "wiki",
      "workflow_job",
      "workflow_run",
    ]);
    expect(familyOf("pull_request_comment")).toBe("issue_comment");
  });
});
